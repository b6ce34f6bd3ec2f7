;;; Whole sessions of Emacs's client, dap-mode, with `ptxloom dap'; results as TAP on standard output.  -*- lexical-binding: t -*-
;; $PTXLOOM: the command; $PROGRAMS: programs of tests/debug, built with -G from $SOURCES.
(require 'dap-mode)
(require 'dap-ui)

(defvar test-count 0)
(defvar test-failed 0)
(defvar test-stops nil "Bodies of the events, the last one first.")
(defvar test-output "")

(defun test-check (name ok &rest details)
  (setq test-count (1+ test-count))
  (unless ok (setq test-failed (1+ test-failed)))
  (princ (format "%sok %d - dap-mode: %s\n" (if ok "" "not ") test-count name))
  (unless ok (princ (format "# %S\n" details))))

(defun test-wait (condition)
  (let ((until (+ (float-time) 40)))
    (while (and (not (funcall condition)) (< (float-time) until))
      (accept-process-output nil 0.01))
    (funcall condition)))

(advice-add 'dap--on-event :before
            (lambda (_session event)
              (let ((body (gethash "body" event)))
                (pcase (gethash "event" event)
                  ("stopped" (push body test-stops))
                  ("output" (setq test-output (concat test-output (gethash "output" body))))))))

(defun test-session () (dap--cur-session))
(defun test-over () (not (dap--session-running (test-session))))

(defun test-stop-of (action)
  "Do ACTION; the frame that the client shows when the program stops again, nil at its end."
  (let ((before (length test-stops)))
    (funcall action)
    (test-wait (lambda ()
                 (or (and (test-session) (test-over))
                     (and (> (length test-stops) before) (test-session)
                          (dap--debug-session-active-frame (test-session))))))
    (dap--debug-session-active-frame (test-session))))

(defun test-line (frame) (and frame (gethash "line" frame)))
(defun test-reason () (gethash "reason" (car test-stops)))

(defun test-value (expression)
  (gethash "result" (dap-request (test-session) "evaluate" :expression expression :context "watch"
                                 :frameId (gethash "id" (dap--debug-session-active-frame (test-session))))))

(defun test-break (line &optional property text)
  (find-file (concat (getenv "SOURCES") "/diverge.cu"))
  (goto-char (point-min))
  (forward-line (1- line))
  (dap-breakpoint-add)
  (when property
    (let ((file (buffer-file-name)))
      (dap--breakpoint-update property "" file (dap--get-breakpoint-at-point)))))

(dap-register-debug-provider
 "ptxloom" (lambda (conf) (plist-put conf :dap-server-path (list (getenv "PTXLOOM") "dap"))))

(defun test-launch (program)
  (test-stop-of (lambda ()
                  (dap-debug (list :type "ptxloom" :request "launch" :name program
                                   :program (concat (getenv "PROGRAMS") "/" program))))))

(defun test-diverge ()
  (let (frame scopes variables)
    (test-break 9)
    ;; The client asks for the condition in the minibuffer.
    (cl-letf (((symbol-function 'read-string) (lambda (&rest _) "j == 2")))
      (test-break 16 :condition ""))
    (setq frame (test-launch "diverge"))
    (test-check "a breakpoint stops at its line" (equal (test-line frame) 9) frame test-output)
    (test-check "and gives the reason" (equal (test-reason) "breakpoint") (test-reason))
    (test-check "the editor shows the line" (and (string-suffix-p "diverge.cu" (or buffer-file-name ""))
                                                 (equal (line-number-at-pos) 9)))
    (test-check "threads are groups of lanes"
                (equal (length (gethash "threads" (dap-request (test-session) "threads"))) 2))
    (setq scopes (gethash "scopes" (dap-request (test-session) "scopes" :frameId (gethash "id" frame)))
          variables (gethash "variables" (dap-request (test-session) "variables" :variablesReference
                                                      (gethash "variablesReference" (car scopes)))))
    (test-check "locals are shown" (--first (equal (gethash "name" it) "lane") variables) variables)
    (setq frame (test-stop-of (lambda () (dap-next (test-session)))))
    (test-check "a step" (and frame (equal (test-reason) "step")) frame)
    (setq frame (test-stop-of (lambda () (dap-step-in (test-session)))))
    (setq frame (test-stop-of (lambda () (dap-continue (test-session)
                                                       (dap--debug-session-thread-id (test-session))))))
    (test-check "a condition stops" (and (equal (test-line frame) 16) (equal (test-value "j") "2")) frame)
    (setq frame (test-stop-of (lambda () (dap--step "stepBack" (test-session)))))
    (test-check "a step back" (and frame (equal (test-reason) "step")) frame)
    (dap-breakpoint-delete-all)
    (test-stop-of (lambda () (dap-continue (test-session) (dap--debug-session-thread-id (test-session)))))
    (test-check "without breakpoints it runs to its end"
                (and (test-wait #'test-over) (string-match-p "324" test-output)) test-output)))

(defun test-fault ()
  (let ((frame (test-launch "fault")))
    (test-check "a fault is an exception" (and (equal (test-line frame) 20) (equal (test-reason) "exception")) frame)
    (test-check "with its values" (equal (test-value "sum") "25"))
    (setq frame (test-stop-of (lambda () (dap-debug-restart))))
    (test-check "a restart begins anew" (and (equal (test-line frame) 20) (equal (test-reason) "exception")) frame)
    (dap-disconnect (test-session))
    (test-check "disconnecting ends it" (test-wait #'test-over))))

(setq lsp-session-file (expand-file-name "lsp" (getenv "PROGRAMS"))
      dap-breakpoints-file (expand-file-name "breakpoints" (getenv "PROGRAMS"))
      dap-auto-show-output nil)
(dap-mode 1)
(dolist (session '(test-diverge test-fault))
  (condition-case why
      (funcall session)
    (error (test-check (format "session %s" session) nil why test-output))))
(kill-emacs (if (zerop test-failed) 0 1))
