-- Whole sessions of Neovim's client, nvim-dap, with `ptxloom dap`; results as TAP in the file $RESULTS.
-- $PTXLOOM: the command; $PROGRAMS: programs of tests/debug, built with -G from $SOURCES.
local dap = require('dap')
local env = vim.env
local results = assert(io.open(env.RESULTS, 'w'))
local count, failed = 0, 0

local function check(name, ok, ...)
	count = count + 1
	results:write(('%sok %d - nvim-dap: %s\n'):format(ok and '' or 'not ', count, name))
	if not ok then
		failed = failed + 1
		for line in vim.inspect({ ... }):gmatch('[^\n]+') do
			results:write('# ' .. line .. '\n')
		end
	end
	results:flush()
end

local function wait(condition)
	return vim.wait(40000, condition, 10)
end

-- ---- what the client is told ----

local stops, last, output, ended, errors = 0, nil, '', false, {}

dap.adapters.ptxloom = { type = 'executable', command = env.PTXLOOM, args = { 'dap' } }
dap.defaults.fallback.exception_breakpoints = 'default'
dap.listeners.after.event_stopped.test = function(_, body)
	stops, last = stops + 1, body
end
dap.listeners.after.event_output.test = function(_, body)
	output = output .. body.output
end
dap.listeners.after.event_terminated.test = function()
	ended = true
end
-- What the client would show its user as an error.
vim.notify = function(text, level)
	if level == vim.log.levels.ERROR or level == vim.log.levels.WARN then
		table.insert(errors, text)
	end
end

-- Do something after which the program stops again; the frame that the client then shows.
local function stop_of(action, ...)
	local before = stops
	local session = dap.session()
	if session then
		session.current_frame = nil
	end
	action(...)
	wait(function()
		local s = dap.session()
		return ended or stops > before and s and s.current_frame and s.current_frame.scopes
	end)
	return dap.session() and dap.session().current_frame or {}
end

local function ask(command, arguments)
	local done, err, body = false, nil, nil
	dap.session():request(command, arguments, function(e, b)
		done, err, body = true, e, b
	end)
	wait(function()
		return done
	end)
	return body or {}, err
end

local function evaluate(expression, context)
	local frame = dap.session().current_frame or {}
	return ask('evaluate', { expression = expression, context = context or 'watch', frameId = frame.id }).result
end

-- Variables of a scope that the client has asked for by itself.
local function scope(frame, name)
	local found = {}
	for _, s in ipairs(frame.scopes or {}) do
		if s.name == name then
			found.reference = s.variablesReference
			if not s.variables then
				s.variables = ask('variables', { variablesReference = s.variablesReference }).variables
			end
			for _, v in pairs(s.variables or {}) do
				found[v.name] = v
			end
		end
	end
	return found
end

local function open(file, line)
	vim.cmd('edit ' .. env.SOURCES .. '/' .. file)
	vim.api.nvim_win_set_cursor(0, { line, 0 })
end

local function start(program)
	ended, output, errors = false, '', {}
	dap.run({ type = 'ptxloom', request = 'launch', name = program, program = env.PROGRAMS .. '/' .. program,
		cwd = env.PROGRAMS })
end

local function launch(program)
	return stop_of(start, program)
end

local function finish()
	dap.terminate()
	check('the session is over', wait(function()
		return ended and dap.session() == nil
	end))
	check('the client had nothing to complain about', #errors == 0, errors)
	dap.clear_breakpoints()
end

-- ---- sessions ----

local function diverge()
	local frame, body, variable
	open('diverge.cu', 9)
	dap.set_breakpoint()
	open('diverge.cu', 16)
	dap.set_breakpoint('j == 2')
	open('diverge.cu', 14)
	dap.set_breakpoint('lane == 3', nil, 'r is {r}')
	frame = launch('diverge')
	check('a breakpoint stops at its line', frame.line == 9 and frame.name == 'paths', frame, output)
	check('and gives the reason', last and last.reason == 'breakpoint', last)
	check('breakpoints become signs in the file', #vim.fn.sign_getplaced('%', { group = '*' })[1].signs >= 2)
	check('threads are groups of lanes', vim.tbl_count(dap.session().threads) == 2, dap.session().threads)
	check('locals are shown', scope(frame, 'Locals').lane.value == '0', frame.scopes)
	variable = scope(frame, 'Locals').r
	body = ask('setVariable', { variablesReference = scope(frame, 'Locals').reference, name = 'r', value = '7' })
	check('a variable is set', body.value == '7' and evaluate('r') == '7', body, variable)
	frame = stop_of(dap.step_over)
	check('a step', frame.line == 15 or frame.line == 16 or frame.line == 10 or frame.line == 14, frame)
	frame = stop_of(dap.step_back)
	check('a step back', frame.line == 9 and evaluate('r') == '7', frame)
	frame = stop_of(dap.step_into)
	frame = stop_of(dap.continue)
	check('a log point prints', output:find('r is 103\n') ~= nil, output)
	check('a condition stops', frame.line == 16 and evaluate('j') == '2', frame)
	check('commands work in the console', evaluate('info lanes j', 'repl'):find('diverge.cu:16') ~= nil)
	body = ask('disassemble', { memoryReference = frame.instructionPointerReference, instructionCount = 3 })
	check('code is shown', #(body.instructions or {}) == 3, body)
	body = ask('dataBreakpointInfo', { variablesReference = scope(frame, 'Locals').reference, name = 'r' })
	body = ask('setDataBreakpoints', { breakpoints = { { dataId = body.dataId, accessType = 'write' } } })
	check('a data breakpoint is made', body.breakpoints and body.breakpoints[1].verified, body)
	frame = stop_of(dap.continue)
	check('and stops', last.reason == 'data breakpoint', last)
	ask('setDataBreakpoints', { breakpoints = {} })
	frame = stop_of(dap.reverse_continue)
	check('back to the stop before', frame.line == 16, frame, last)
	body = ask('readMemory', { memoryReference = evaluate('&out[0]'):match('0x%x+') or '0x0', count = 16 })
	check('memory is read', body.data and #body.data == 24, body)
	stop_of(dap.restart)
	check('a restart begins anew', dap.session().current_frame.line == 9, dap.session().current_frame)
	dap.clear_breakpoints()
	stop_of(dap.continue)
	check('without breakpoints it runs to its end', ended and output:find('324') ~= nil, output)
	check('the session is over', wait(function()
		return dap.session() == nil
	end))
	check('the client had nothing to complain about', #errors == 0, errors)
end

local function fault()
	local frame = launch('fault')
	check('a fault is an exception', last.reason == 'exception' and frame.line == 20, last, frame)
	check('with its values', evaluate('sum') == '25', evaluate('sum'))
	check('the client shows what it is', #vim.diagnostic.get() > 0, vim.diagnostic.get())
	frame = stop_of(dap.step_back)
	check('a step back from it', last.reason == 'step' and frame.line >= 18 and frame.line <= 21, frame)
	finish()
end

local function spin()
	local frame
	start('spin')
	wait(function()
		return output:find('launching') ~= nil
	end)
	vim.wait(500)
	frame = stop_of(dap.pause, 1)
	check('a pause stops a running kernel', last and last.reason == 'pause' and frame.name, last, frame)
	finish()
end

for _, session in ipairs({ diverge, fault, spin }) do
	local ok, why = xpcall(session, debug.traceback)
	if not ok then
		check(tostring(why):gsub('\n.*', ''), false, why)
	end
	if dap.session() then
		dap.terminate()
		wait(function()
			return dap.session() == nil
		end)
	end
end
results:close()
vim.cmd(failed == 0 and 'qall!' or 'cquit!')
