/*
 * ptxloom_test.hpp: unit tests of kernels in C++17, on machines without a GPU.
 *
 *     ptxloom::device gpu("t4");
 *     auto saxpy = gpu.load("saxpy.ptx").kernel<void(int, float, const float *, float *)>("saxpy");
 *
 *     auto r = saxpy.grid(4).block(256)(1000, 2.0f, ptxloom::in(x), ptxloom::inout(y));
 *     EXPECT_LAUNCH(r);
 *     EXPECT_NEAR_ALL(y, want, ptxloom::ulp(1));
 *     EXPECT_METRIC(r, bank_conflicts == 0);
 *     EXPECT_FAULT(saxpy.block(32)(8, 2.0f, ptxloom::in(tiny), ptxloom::inout(y)), out_of_bounds);
 *     ptxloom::for_each_schedule(gpu, 20, [&] { ... });
 *
 * The macros report to GoogleTest, Catch2 (2 and 3) or doctest, whichever was included before this
 * header; without one they print to standard error, and ptxloom::failures() counts. Nothing here
 * throws: what goes wrong is in results, which convert to bool and print themselves. Programs that
 * use this header are linked with -lptxloom. docs/ci.md is the tutorial.
 */
#ifndef PTXLOOM_TEST_HPP
#define PTXLOOM_TEST_HPP

#include <ptxloom.h>

#include <cxxabi.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <ostream>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

/* The command that compiles .cu files; ptxloom::test of CMake defines it. */
#ifndef PTXLOOM_TEST_COMMAND
#define PTXLOOM_TEST_COMMAND "ptxloom"
#endif

extern "C" char **environ;

namespace ptxloom
{

/* What checks found (docs/checks.md): ptxloom_findings(3). */
struct finding {
	std::string check, kind, message, text;
	bool is_warning = false;
	std::uint64_t count = 0;
};

namespace detail
{

struct device_state;

/* Launches of a device as it was open then; none: nothing was launched. */
struct launched {
	std::shared_ptr<device_state> device;
	unsigned generation = 0;
	std::uint64_t first = 0, count = 0; /* count 0: of `kernel` all */
	std::string kernel;                 /* in the PTX; empty: any */
};

} // namespace detail

/* What became of a launch. */
class result
{
      public:
	int status = PTXLOOM_SUCCESS; /* CUDA's number */
	bool ran = false;             /* false: it was refused before a thread ran */
	std::string rule;             /* of a fault: "out_of_bounds"; else empty */
	ptxloom_fault fault{};        /* if there is a rule */
	std::vector<finding> findings;
	std::string message;       /* of faults, refusals and errors of the test, whole lines */
	detail::launched launched; /* for EXPECT_METRIC */

	/* A metric by its name; NaN: it is not known. */
	double metric(const std::string &name) const;

	/* Did it run without a fault and without a finding that is an error? */
	explicit operator bool() const
	{
		if (status)
			return false;
		for (const finding &f : findings)
			if (!f.is_warning)
				return false;
		return true;
	}

	std::string text() const
	{
		std::string s;

		if (!status)
			s = "the launch succeeded\n";
		else if (!rule.empty())
			s = "the launch faulted: " + rule + "\n";
		else
			s = std::string(ran ? "the launch failed: " : "the launch was refused: ") +
			    ptxloom_status_text(status) + "\n";
		s += message;
		/* The memory check finds a fault again, in other words. */
		for (const finding &f : findings)
			if (rule.empty() || f.check != "mem")
				s += f.text.empty() ? f.message + "\n" : f.text;
		return s;
	}
};

inline std::ostream &operator<<(std::ostream &to, const result &r)
{
	return to << r.text();
}

/* How a device is opened: ptxloom_device_open(3). */
struct settings {
	std::string checks{};       /* "mem,race"; empty: $PTXLOOM_CHECK */
	std::uint64_t seed{};       /* order of threads; 0: $PTXLOOM_SEED, else the natural one */
	unsigned workers{};         /* 0: $PTXLOOM_WORKERS, else one per core */
	std::uint64_t timeout_ms{}; /* of a launch; 0: $PTXLOOM_TIMEOUT, else none */
	bool deterministic{};
	/* What is counted, PTXLOOM_COUNT_EXACT or .._CACHES; 0: $PTXLOOM_COUNTERS, and what
	 * EXPECT_METRIC somewhere in the program needs. */
	int counters{};
};

/* ---- Arguments of kernels ---- */

enum class direction { in, out, inout };

/* Elements of the host that a launch copies to the device, from it, or both. */
template <typename T> struct elements {
	T *data;
	std::size_t count;
	direction way;
};

namespace detail
{

template <typename C, typename = void> struct is_contiguous : std::false_type {
};
template <typename C>
struct is_contiguous<C, std::void_t<decltype(std::data(std::declval<C &>())),
				    decltype(std::size(std::declval<C &>()))>> : std::true_type {
};

template <typename T> constexpr elements<T> span_of(T *data, std::size_t count, direction way)
{
	static_assert(std::is_trivially_copyable_v<T>, "elements are copied as bytes");
	return {data, count, way};
}

template <typename C> auto elements_of(C &c, direction way)
{
	static_assert(
		is_contiguous<C>::value,
		"elements have to lie in a row: std::vector (but of bool), std::array, arrays");
	return span_of(std::data(c), std::size(c), way);
}

} // namespace detail

/* Containers whose elements lie in a row, or a pointer and how many. A kernel finds in `out` bytes
 * of 0xff, so that what it does not write is seen. */
template <typename C> auto in(const C &c)
{
	return detail::elements_of(c, direction::in);
}
template <typename C> auto out(C &c)
{
	static_assert(!std::is_const_v<C>, "what is const cannot be written");
	return detail::elements_of(c, direction::out);
}
template <typename C> auto inout(C &c)
{
	static_assert(!std::is_const_v<C>, "what is const cannot be written");
	return detail::elements_of(c, direction::inout);
}
template <typename T> auto in(const T *data, std::size_t count)
{
	return detail::span_of(data, count, direction::in);
}
template <typename T> auto out(T *data, std::size_t count)
{
	static_assert(!std::is_const_v<T>, "what is const cannot be written");
	return detail::span_of(data, count, direction::out);
}
template <typename T> auto inout(T *data, std::size_t count)
{
	static_assert(!std::is_const_v<T>, "what is const cannot be written");
	return detail::span_of(data, count, direction::inout);
}

/* ---- What the objects share ---- */

namespace detail
{

inline std::atomic<unsigned> &failure_count()
{
	static std::atomic<unsigned> count{0};
	return count;
}

inline std::string read_all(const std::string &path)
{
	std::ifstream file(path, std::ios::binary);
	std::ostringstream text;

	text << file.rdbuf();
	return text.str();
}

/* What EXPECT_METRIC somewhere in the program needs: enum ptxloom_counting. */
inline int &expected_counting()
{
	static int counting;

	return counting;
}

/* $PTXLOOM_COUNTERS, which claims must not lessen; -1: it has another value, which is an error. */
inline int environment_counting()
{
	static const char *const names[] = {"", "nothing", "exact", "caches"};
	const char *value = std::getenv("PTXLOOM_COUNTERS");

	for (int i = 0; value && i < 4; i++)
		if (!std::strcmp(value, names[i]))
			return i;
	return value ? -1 : 0;
}

/* Of "bank_conflicts == 0", perhaps in quotes, the name. What is no metric is said later. */
inline bool note_claim(std::string claim)
{
	char why[1];

	if (claim.front() == '"')
		claim.erase(0, 1);
	claim.resize(std::min(claim.size(), claim.find_first_of(" \t<>=!+\"")));
	expected_counting() = std::max(expected_counting(),
				       ptxloom_metric_known(claim.c_str(), why, sizeof(why)));
	return true;
}

/* One for each EXPECT_METRIC: before main, so that devices know what to count. */
template <typename Claim> struct claim_note {
	static const bool is_noted;
};
template <typename Claim> const bool claim_note<Claim>::is_noted = note_claim(Claim::text());

/* A device; opened anew for another seed, and what is loaded then with it. */
struct device_state {
	std::string name;
	settings how;
	std::recursive_mutex lock; /* launches one at a time; all below but `messages` */
	ptxloom_device *handle = nullptr;
	unsigned generation = 0;
	int status = PTXLOOM_SUCCESS;
	std::string error;
	bool is_checked = false;
	int counting = 0;              /* what was asked for */
	std::vector<finding> findings; /* of all launches */
	std::mutex messages_lock;
	std::string messages;

	device_state(std::string device, settings s) : name(std::move(device)), how(std::move(s))
	{
		open();
	}
	~device_state()
	{
		ptxloom_device_close(handle);
	}
	device_state(const device_state &) = delete;
	device_state &operator=(const device_state &) = delete;

	static void add_message(void *user, const char *text)
	{
		device_state *s = static_cast<device_state *>(user);
		std::lock_guard<std::mutex> guard(s->messages_lock);

		s->messages += text;
	}

	std::string take_messages()
	{
		std::lock_guard<std::mutex> guard(messages_lock);

		return std::exchange(messages, std::string());
	}

	void open()
	{
		ptxloom_options o{};
		const struct ptxloom_findings *found;

		o.size = sizeof(o);
		o.device = name.empty() ? nullptr : name.c_str();
		o.workers = how.workers;
		o.seed = how.seed;
		o.timeout_ms = how.timeout_ms;
		o.message = add_message;
		o.user = this;
		o.deterministic = how.deterministic;
		o.checks = how.checks.empty() ? nullptr : how.checks.c_str();
		counting = how.counters ? how.counters : environment_counting();
		/* What is wrong in the environment is the library's to say. */
		counting = counting < 0 ? 0 : std::max(counting, expected_counting());
		o.counters = counting;
		generation++;
		status = ptxloom_device_open(&o, &handle);
		error = take_messages();
		if (status) {
			handle = nullptr;
			if (error.empty())
				error = "ptxloom: error: device '" + name +
					"': " + ptxloom_status_text(status) + "\n";
			return;
		}
		found = ::ptxloom_findings(handle);
		is_checked = found && *found->checks;
		::ptxloom_findings_free(found);
	}

	void reopen(std::uint64_t seed)
	{
		std::lock_guard<std::recursive_mutex> guard(lock);

		ptxloom_device_close(handle);
		handle = nullptr;
		how.seed = seed;
		open();
	}

	/* New ones, which are forgotten below, so that the next launch has its own. */
	std::vector<finding> take_findings()
	{
		std::vector<finding> all;
		const struct ptxloom_findings *found;

		if (!is_checked || !(found = ::ptxloom_findings(handle)))
			return all;
		for (std::size_t i = 0; i < found->count; i++) {
			const ptxloom_finding *f = found->finding[i];
			finding own;

			own.check = f->check ? f->check : "";
			own.kind = f->kind ? f->kind : "";
			own.message = f->message ? f->message : "";
			own.text = f->text ? f->text : "";
			own.is_warning = f->is_warning;
			own.count = f->count;
			all.push_back(own);
		}
		::ptxloom_findings_free(found);
		::ptxloom_findings_clear(handle);
		findings.insert(findings.end(), all.begin(), all.end());
		return all;
	}
};

/* A module: its image, and its handle on the device as it is open now. */
struct module_state {
	std::shared_ptr<device_state> device;
	std::string path, image, error; /* image: of compiled files; else the path is loaded */
	ptxloom_module *handle = nullptr;
	unsigned generation = 0;
	int status = PTXLOOM_SUCCESS;

	~module_state()
	{
		std::lock_guard<std::recursive_mutex> guard(device->lock);

		if (handle && generation == device->generation)
			ptxloom_module_unload(handle);
	}

	/* device->lock is held. */
	bool load()
	{
		if (device->status) {
			error = device->error;
			status = device->status;
		}
		if (status || generation == device->generation)
			return !status;
		device->take_messages();
		status = image.empty()
				 ? ptxloom_module_load_file(device->handle, path.c_str(), &handle)
				 : ptxloom_module_load(device->handle, image.data(), image.size(),
						       &handle);
		generation = device->generation;
		error = device->take_messages();
		if (status)
			handle = nullptr;
		if (status && error.empty())
			error = "ptxloom: error: " + path + ": " + ptxloom_status_text(status) +
				"\n";
		return !status;
	}
};

/* ---- Names of kernels ---- */

inline std::string demangled(const char *name)
{
	int status = 0;
	char *text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
	std::string s = text && !status ? text : name;

	std::free(text);
	return s;
}

/* Cut the last part in brackets: of "void f<int>(int*)" the parameters, of "f<int>" the rest. */
inline std::string without_last(const std::string &s, char open, char close)
{
	int depth = 0;

	if (s.empty() || s.back() != close)
		return s;
	for (std::size_t i = s.size(); i-- > 0;) {
		depth += (s[i] == close) - (s[i] == open);
		if (!depth)
			return s.substr(0, i);
	}
	return s;
}

inline std::string squeezed(const std::string &s)
{
	std::string to;

	for (char c : s)
		if (c != ' ')
			to += c;
	return to;
}

/* How well a kernel's name fits: 3 exactly, 2 without its parameters, 1 without the arguments of
 * its template, 0 not. */
inline int name_fit(const char *kernel, const std::string &wanted)
{
	std::string full = demangled(kernel), plain = without_last(full, '(', ')');
	std::string want = squeezed(wanted);

	if (plain.compare(0, 5, "void ") == 0)
		plain.erase(0, 5);
	if (wanted == kernel || want == squeezed(full))
		return 3;
	if (want == squeezed(plain))
		return 2;
	return want == squeezed(without_last(plain, '<', '>'));
}

inline ptxloom_kernel *find_kernel(ptxloom_module *mod, const std::string &wanted, std::string *why)
{
	ptxloom_kernel *best = nullptr, *k;
	int fit = 0;
	bool is_alone = true;
	std::string names;

	for (unsigned n = 0; (k = ptxloom_module_kernel_nth(mod, n)); n++) {
		int f = name_fit(ptxloom_kernel_name(k), wanted);

		names += "    " + demangled(ptxloom_kernel_name(k)) + "\n";
		if (f && f == fit)
			is_alone = false;
		if (f <= fit)
			continue;
		fit = f;
		best = k;
		is_alone = true;
	}
	if (best && is_alone)
		return best;
	*why = "ptxloom: error: " + std::string(best ? "more than one kernel" : "no kernel") +
	       " is called '" + wanted + "'; there are:\n" + (names.empty() ? "    none\n" : names);
	return nullptr;
}

/* ---- Compiling ---- */

struct temporary {
	std::string path;

	explicit temporary(const char *end)
	{
		const char *folder = std::getenv("TMPDIR");
		std::string name = std::string(folder && *folder ? folder : "/tmp") +
				   "/ptxloom-test-XXXXXX" + end;
		int fd = mkstemps(name.data(), static_cast<int>(std::strlen(end)));

		if (fd < 0)
			return;
		path = name;
		close(fd);
	}
	~temporary()
	{
		if (!path.empty())
			unlink(path.c_str());
	}
	temporary(const temporary &) = delete;
	temporary &operator=(const temporary &) = delete;
};

/* Run a command with its output in a file; its exit status, or -1 with errno. */
inline int run_command(const std::vector<std::string> &words, const std::string &output)
{
	std::vector<char *> argv;
	posix_spawn_file_actions_t actions;
	pid_t child;
	int status = 0;

	for (const std::string &w : words)
		argv.push_back(const_cast<char *>(w.c_str()));
	argv.push_back(nullptr);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_TRUNC, 0);
	posix_spawn_file_actions_adddup2(&actions, 1, 2);
	errno = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
	posix_spawn_file_actions_destroy(&actions);
	if (errno)
		return -1;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* PTX of a .cu file. False with the compiler's messages in `why`. */
inline bool compile(const std::string &path, const std::vector<std::string> &options,
		    std::string *ptx, std::string *why)
{
	temporary made(".ptx"), said(".txt");
	std::vector<std::string> words{PTXLOOM_TEST_COMMAND, "cc", "-ptx", "-lineinfo"};
	int status;

	if (made.path.empty() || said.path.empty()) {
		*why = "ptxloom: error: no temporary file: " + std::string(std::strerror(errno)) +
		       "\n";
		return false;
	}
	words.insert(words.end(), options.begin(), options.end());
	words.insert(words.end(), {path, "-o", made.path});
	status = run_command(words, said.path);
	if (status < 0) {
		*why = "ptxloom: error: " PTXLOOM_TEST_COMMAND " cannot be run: " +
		       std::string(std::strerror(errno)) + "\n";
		return false;
	}
	*ptx = read_all(made.path);
	*why = read_all(said.path);
	if (!status && !ptx->empty())
		return true;
	*why += "ptxloom: error: " + path + " does not compile\n";
	return false;
}

/* ---- Launches ---- */

/* A value, or elements with their copy on the device. */
struct argument {
	const void *value = nullptr; /* of the parameter */
	bool is_elements = false;
	void *host = nullptr;
	std::size_t bytes = 0;
	direction way = direction::in;
	void *device = nullptr;
	bool is_shared = false; /* the copy is that of an argument before */
};

/* The type of a parameter in C++. */
struct param_kind {
	std::size_t bytes;
	bool is_float, is_class;
	const char *spelled;
};

template <typename P> param_kind kind_of()
{
	const char *word = std::is_pointer_v<P>                       ? "a pointer"
			   : std::is_floating_point_v<P>              ? "a floating-point number"
			   : std::is_class_v<P> || std::is_union_v<P> ? "a structure"
								      : "an integer";

	return {sizeof(P), std::is_floating_point_v<P>, std::is_class_v<P> || std::is_union_v<P>,
		word};
}

/* A line for each parameter of the signature that is not the PTX's. */
inline std::string check_params(const ptxloom_kernel *k, const std::vector<param_kind> &kinds)
{
	unsigned count = ptxloom_kernel_param_count(k);
	std::ostringstream why;

	if (count != kinds.size()) {
		why << "ptxloom: error: kernel " << demangled(ptxloom_kernel_name(k)) << " has "
		    << count << " parameters, its type in the test " << kinds.size() << "\n";
		return why.str();
	}
	for (unsigned i = 0; i < count; i++) {
		const param_kind &c = kinds[i];
		ptxloom_param p{};
		bool is_float;

		if (ptxloom_kernel_param(k, i, &p))
			continue;
		is_float = !p.is_array && *p.type == 'f';
		if (p.bytes == c.bytes &&
		    (c.is_class || (!p.is_array && (is_float == c.is_float || *p.type == 'b'))))
			continue;
		why << "ptxloom: error: parameter " << i + 1 << " of kernel "
		    << demangled(ptxloom_kernel_name(k)) << ", " << p.name << ", is ." << p.type
		    << " of " << p.bytes << " bytes, in the test " << c.spelled << " of " << c.bytes
		    << "\n";
	}
	return why.str();
}

/* Copies of elements; those of the same memory share one. False: why. */
inline bool open_arguments(ptxloom_device *dev, std::vector<argument> &all, std::string *why)
{
	for (std::size_t i = 0; i < all.size(); i++) {
		argument &a = all[i];

		if (!a.is_elements || !a.bytes)
			continue;
		for (std::size_t j = 0; j < i && !a.is_shared; j++) {
			argument &b = all[j];
			const char *x = static_cast<const char *>(a.host);
			const char *y = static_cast<const char *>(b.host);

			if (!b.is_elements || !b.bytes || x >= y + b.bytes || y >= x + a.bytes)
				continue;
			if (x != y || a.bytes != b.bytes) {
				*why = "ptxloom: error: parameters " + std::to_string(j + 1) +
				       " and " + std::to_string(i + 1) + " overlap in part\n";
				return false;
			}
			a.device = b.device;
			a.is_shared = true;
			if (a.way != direction::out && b.way == direction::out)
				std::memcpy(a.device, a.host, a.bytes);
		}
		if (a.is_shared)
			continue;
		a.device = ptxloom_alloc(dev, a.bytes);
		if (!a.device) {
			*why = "ptxloom: error: no memory for the " + std::to_string(a.bytes) +
			       " bytes of parameter " + std::to_string(i + 1) + "\n";
			return false;
		}
		if (a.way == direction::out)
			std::memset(a.device, 0xff, a.bytes);
		else
			std::memcpy(a.device, a.host, a.bytes);
	}
	return true;
}

inline void close_arguments(ptxloom_device *dev, std::vector<argument> &all, bool ran)
{
	for (argument &a : all)
		if (a.device && ran && a.way != direction::in)
			std::memcpy(a.host, a.device, a.bytes);
	for (argument &a : all)
		if (a.device && !a.is_shared)
			ptxloom_free(dev, a.device);
}

/* What ended a launch: its fault, if that is about this one, or a refusal. */
inline void explain(device_state &d, result *r)
{
	ptxloom_fault f;

	r->message = d.take_messages();
	r->ran = !r->status;
	if (!r->status || ptxloom_last_fault(d.handle, &f) || f.status != r->status ||
	    r->message.find(f.message) == std::string::npos)
		return;
	r->ran = true;
	r->fault = f;
	r->rule = ptxloom_fault_rule(&f);
}

inline result refuse(int status, const std::string &why)
{
	result r;

	r.status = status ? status : static_cast<int>(PTXLOOM_INVALID_VALUE);
	r.message = why;
	return r;
}

inline result launch(module_state &m, const std::string &name, const ptxloom_config &config,
		     const std::vector<param_kind> &kinds, std::vector<argument> &all)
{
	std::lock_guard<std::recursive_mutex> guard(m.device->lock);
	std::vector<void *> args;
	std::string why;
	ptxloom_kernel *k;
	result r;

	if (!m.load())
		return refuse(m.status, m.error);
	/* A device that was opened before main, and before some of what is expected was known. */
	if (m.device->counting < expected_counting()) {
		m.device->reopen(m.device->how.seed);
		if (!m.load())
			return refuse(m.status, m.error);
	}
	if (!(k = find_kernel(m.handle, name, &why)))
		return refuse(PTXLOOM_NOT_FOUND, why);
	if (!(why = check_params(k, kinds)).empty())
		return refuse(PTXLOOM_INVALID_VALUE, why);
	if (open_arguments(m.device->handle, all, &why)) {
		for (argument &a : all)
			args.push_back(a.is_elements ? &a.device : const_cast<void *>(a.value));
		args.push_back(nullptr);
		m.device->take_messages();
		r.launched = {m.device, m.device->generation,
			      ::ptxloom_counters_next(m.device->handle), 0, std::string()};
		r.status = ptxloom_launch(k, &config, args.data());
		r.launched.count = ::ptxloom_counters_next(m.device->handle) - r.launched.first;
		explain(*m.device, &r);
		r.findings = m.device->take_findings();
	} else {
		r = refuse(PTXLOOM_INVALID_VALUE, why);
	}
	close_arguments(m.device->handle, all, r.ran);
	return r;
}

template <typename A> struct is_elements : std::false_type {
};
template <typename T> struct is_elements<elements<T>> : std::true_type {
};

/* An argument for a parameter of type P; values are kept in `value`. */
template <typename P, typename A> argument bind_argument(const A &a, P &value)
{
	argument made;

	if constexpr (is_elements<A>::value) {
		using element = std::remove_pointer_t<decltype(a.data)>;
		using target = std::remove_pointer_t<P>;

		static_assert(std::is_pointer_v<P>,
			      "elements are given for a parameter that is no pointer");
		static_assert(
			std::is_void_v<target> ||
				std::is_same_v<std::remove_cv_t<element>, std::remove_cv_t<target>>,
			"the elements are not of the type that the kernel's parameter points to");
		made.is_elements = true;
		made.host = const_cast<std::remove_cv_t<element> *>(a.data);
		made.bytes = a.count * sizeof(element);
		made.way = a.way;
		static_cast<void>(value);
	} else {
		static_assert(
			std::is_convertible_v<A, P>,
			"the argument does not convert to the type of the kernel's parameter");
		static_assert(!(std::is_floating_point_v<A> && std::is_integral_v<P>),
			      "a floating-point number is given for an integer");
		value = static_cast<P>(a);
		made.value = &value;
	}
	return made;
}

/* The kernel's launches; of none where it cannot be found, which its launches say. */
inline launched launches_of(const std::shared_ptr<module_state> &m, const std::string &name)
{
	std::lock_guard<std::recursive_mutex> guard(m->device->lock);
	launched l;
	std::string why;
	ptxloom_kernel *k = m->load() ? find_kernel(m->handle, name, &why) : nullptr;

	if (k)
		l = {m->device, m->device->generation, 0, 0, ptxloom_kernel_name(k)};
	return l;
}

} // namespace detail

/* ---- Kernels ---- */

template <typename F> class kernel;

/* A kernel with its launch configuration; grid(4) and the like give another with that part set. */
template <typename... P> class kernel<void(P...)>
{
      public:
	kernel(std::shared_ptr<detail::module_state> mod, std::string wanted)
	    : module_(std::move(mod)), name_(std::move(wanted))
	{
		static_assert((std::is_trivially_copyable_v<P> && ...),
			      "parameters of kernels are copied as bytes");
		for (int i = 0; i < 3; i++)
			config_.grid[i] = config_.block[i] = 1;
	}

	kernel grid(unsigned x, unsigned y = 1, unsigned z = 1) const
	{
		return with(&ptxloom_config::grid, x, y, z);
	}
	kernel block(unsigned x, unsigned y = 1, unsigned z = 1) const
	{
		return with(&ptxloom_config::block, x, y, z);
	}
	kernel cluster(unsigned x, unsigned y = 1, unsigned z = 1) const
	{
		return with(&ptxloom_config::cluster, x, y, z);
	}
	/* Dynamic shared memory in bytes. */
	kernel shared(std::size_t bytes) const
	{
		kernel k(*this);

		k.config_.dynamic_shared = bytes;
		return k;
	}
	kernel cooperative() const
	{
		kernel k(*this);

		k.config_.cooperative = 1;
		return k;
	}

	/* All that were launched of it since the device was opened: for EXPECT_METRIC. */
	detail::launched launches() const
	{
		return detail::launches_of(module_, name_);
	}

	/* Run it and wait. */
	template <typename... A> result operator()(const A &...a) const
	{
		static_assert(sizeof...(A) == sizeof...(P),
			      "as many arguments as the kernel has parameters");
		return run(std::index_sequence_for<P...>(), std::forward_as_tuple(a...));
	}

      private:
	std::shared_ptr<detail::module_state> module_;
	std::string name_;
	ptxloom_config config_{};

	kernel with(unsigned (ptxloom_config::*part)[3], unsigned x, unsigned y, unsigned z) const
	{
		kernel k(*this);

		(k.config_.*part)[0] = x;
		(k.config_.*part)[1] = y;
		(k.config_.*part)[2] = z;
		return k;
	}

	template <std::size_t... I, typename T>
	result run(std::index_sequence<I...>, const T &given) const
	{
		std::tuple<std::remove_cv_t<P>...> values{};
		std::vector<detail::param_kind> kinds{detail::kind_of<std::remove_cv_t<P>>()...};
		std::vector<detail::argument> all{detail::bind_argument<std::remove_cv_t<P>>(
			std::get<I>(given), std::get<I>(values))...};

		static_cast<void>(values);
		static_cast<void>(given);
		return detail::launch(*module_, name_, config_, kinds, all);
	}
};

/* ---- Modules and devices ---- */

class module
{
      public:
	explicit module(std::shared_ptr<detail::module_state> state) : state_(std::move(state))
	{
	}

	explicit operator bool() const
	{
		return !state_->status;
	}
	/* Why it could not be loaded; launches of its kernels say it, too. */
	const std::string &error() const
	{
		return state_->error;
	}

	/*
	 * A kernel by its name in the PTX, or demangled: "f<float>", or "f" if that is one. What
	 * does not fit the PTX is said when it is launched.
	 */
	template <typename F> ptxloom::kernel<F> kernel(const std::string &name) const
	{
		return ptxloom::kernel<F>(state_, name);
	}

      private:
	std::shared_ptr<detail::module_state> state_;
};

class device
{
      public:
	/* "t4", "h100"; without a name $PTXLOOM_DEVICE, else a100. */
	explicit device(const std::string &name = "", const settings &how = settings())
	    : state_(std::make_shared<detail::device_state>(name, how))
	{
	}

	explicit operator bool() const
	{
		return !state_->status;
	}
	const std::string &error() const
	{
		return state_->error;
	}
	std::string name() const
	{
		return state_->handle ? ptxloom_device_name(state_->handle) : "";
	}

	/* PTX or what contains it; of .cu files what `ptxloom cc -ptx` makes with these options. */
	module load(const std::string &path, const std::vector<std::string> &options = {}) const
	{
		auto m = std::make_shared<detail::module_state>();
		bool is_source = path.size() > 3 && !path.compare(path.size() - 3, 3, ".cu");
		std::lock_guard<std::recursive_mutex> guard(state_->lock);

		m->device = state_;
		m->path = path;
		if (is_source && !detail::compile(path, options, &m->image, &m->error))
			m->status = PTXLOOM_INVALID_IMAGE;
		else
			m->load();
		return module(m);
	}

	/* What checks found in all launches. */
	std::vector<finding> findings() const
	{
		return state_->findings;
	}

	/* Close it and open it as it was, with another order of threads; 0: $PTXLOOM_SEED, else the
	 * natural order. Kernels stay valid; variables of modules have their first values again. */
	void reopen(std::uint64_t seed = 0) const
	{
		state_->reopen(seed);
	}
	std::uint64_t seed() const
	{
		return state_->how.seed;
	}

      private:
	std::shared_ptr<detail::device_state> state_;
};

/* "t4,a100" in words, for loops over devices. */
inline std::vector<std::string> devices(const std::string &names)
{
	std::vector<std::string> all;
	std::istringstream words(names);

	for (std::string name; std::getline(words, name, ',');)
		if (!name.empty())
			all.push_back(name);
	return all;
}

/* ---- Comparing ---- */

/* An element is right if it is equal or if one of these holds; NaN equals NaN, and -0 equals 0
 * unless ulp(0) is given. */
struct tolerance {
	double abs_by = 0, rel_by = 0;
	std::uint64_t ulp_by = 0;
	bool is_strict = false;
};

/* Units in the last place; of integers, their difference. */
inline tolerance ulp(std::uint64_t n)
{
	tolerance t;

	t.ulp_by = n;
	t.is_strict = !n;
	return t;
}
inline tolerance abs(double by)
{
	tolerance t;

	t.abs_by = by;
	return t;
}
/* Of what is expected. */
inline tolerance rel(double by)
{
	tolerance t;

	t.rel_by = by;
	return t;
}
/* Either. */
inline tolerance operator|(tolerance a, const tolerance &b)
{
	a.abs_by = a.abs_by > b.abs_by ? a.abs_by : b.abs_by;
	a.rel_by = a.rel_by > b.rel_by ? a.rel_by : b.rel_by;
	a.ulp_by = a.ulp_by > b.ulp_by ? a.ulp_by : b.ulp_by;
	a.is_strict |= b.is_strict;
	return a;
}

namespace detail
{

/* Floats in the order of their values: neighbours differ by 1. */
template <typename T> std::int64_t float_rank(T value)
{
	using bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
	bits b;

	static_assert(sizeof(T) == sizeof(bits), "float or double");
	std::memcpy(&b, &value, sizeof(b));
	return b < 0 ? -static_cast<std::int64_t>(b & std::numeric_limits<bits>::max()) : b;
}

template <typename T> bool is_near(T got, T want, const tolerance &t, long double *error)
{
	*error = 0;
	if constexpr (std::is_floating_point_v<T>) {
		std::int64_t a, b;

		if (std::isnan(got) && std::isnan(want))
			return true;
		if (std::isnan(got) || std::isnan(want) || std::isinf(got) || std::isinf(want)) {
			*error = std::numeric_limits<long double>::infinity();
			return got == want;
		}
		*error = std::fabs(static_cast<long double>(got) - static_cast<long double>(want));
		if (got == want)
			return !t.is_strict || std::signbit(got) == std::signbit(want);
		a = float_rank(got);
		b = float_rank(want);
		return *error <= static_cast<long double>(t.abs_by) ||
		       *error <= static_cast<long double>(t.rel_by) *
					 std::fabs(static_cast<long double>(want)) ||
		       (a > b ? static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b)
			      : static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a)) <=
			       t.ulp_by;
	} else if constexpr (std::is_arithmetic_v<T>) {
		long double x = static_cast<long double>(got), y = static_cast<long double>(want);

		*error = std::fabs(x - y);
		return got == want || *error <= static_cast<long double>(t.abs_by) ||
		       *error <= static_cast<long double>(t.rel_by) * std::fabs(y) ||
		       *error <= static_cast<long double>(t.ulp_by);
	} else {
		*error = 1;
		return got == want;
	}
}

template <typename T> void print_element(std::ostream &to, const T &v)
{
	if constexpr (std::is_floating_point_v<T>) {
		to.precision(std::numeric_limits<T>::max_digits10);
		to << v;
	} else if constexpr (std::is_arithmetic_v<T>) {
		to << +v;
	} else {
		to << "an element of " << sizeof(T) << " bytes";
	}
}

template <typename A, typename B>
std::string near_failure(const char *name, const A &got, const B &want,
			 const tolerance &t = tolerance())
{
	using element = std::remove_cv_t<std::remove_reference_t<decltype(*std::data(got))>>;
	using expected = std::remove_cv_t<std::remove_reference_t<decltype(*std::data(want))>>;
	static_assert(std::is_same_v<element, expected>, "the elements are not of one type");
	std::size_t wrong = 0, worst = 0, count = std::size(got);
	long double most = -1, error;
	std::ostringstream why;
	auto show = [&](std::size_t i, const char *note) {
		why << name << "[" << i << "] = ";
		print_element(why, std::data(got)[i]);
		why << ", expected ";
		print_element(why, std::data(want)[i]);
		why << note << "\n";
	};

	if (count != std::size(want)) {
		why << name << " has " << count << " elements, expected " << std::size(want)
		    << "\n";
		return why.str();
	}
	for (std::size_t i = 0; i < count; i++) {
		if (is_near<element>(std::data(got)[i], std::data(want)[i], t, &error))
			continue;
		if (wrong++ < 5)
			show(i, "");
		if (error > most) {
			most = error;
			worst = i;
		}
	}
	if (wrong > 5)
		show(worst, " is the worst");
	if (wrong > 1)
		why << name << ": " << wrong << " of " << count << " elements differ\n";
	return why.str();
}

/* ---- Expectations: empty, or why they are not met ---- */

inline std::string launch_failure(const char *what, const result &r)
{
	return r ? std::string() : std::string(what) + ": " + r.text();
}

inline std::string fault_failure(const char *what, const result &r, const char *rule)
{
	if (r.rule == rule)
		return std::string();
	return std::string(what) + ": a fault " + rule + " is expected, but " + r.text();
}

inline std::string finding_failure(const char *what, const result &r, const char *wanted)
{
	for (const finding &f : r.findings)
		if (f.check == wanted || f.kind == wanted)
			return std::string();
	return std::string(what) + ": a finding '" + wanted + "' is expected, but there is none; " +
	       r.text();
}

inline const launched &launched_of(const result &r)
{
	return r.launched;
}
inline std::string unlaunched(const result &r)
{
	return r.status ? r.text() : std::string();
}
template <typename F> std::string unlaunched(const kernel<F> &)
{
	return std::string();
}
template <typename F> launched launched_of(const kernel<F> &k)
{
	return k.launches();
}

/* With the device of `l` as it is open now, and its launches; else why not. */
template <typename F> std::string with_launches(const launched &l, F &&body)
{
	ptxloom_launches which{};

	if (!l.device || (!l.count && l.kernel.empty() && l.device->counting > 1))
		return "nothing was launched";
	std::lock_guard<std::recursive_mutex> guard(l.device->lock);
	if (!l.device->handle || l.generation != l.device->generation)
		return "the device was opened anew after the launch";
	which.first = l.first;
	which.count = l.count;
	which.kernel = l.kernel.empty() ? nullptr : l.kernel.c_str();
	return body(l.device->handle, which);
}

/* claim: as the test has it, perhaps in quotes. */
template <typename T>
std::string claim_failure(const char *what, const T &launched, std::string claim)
{
	if (claim.size() > 1 && claim.front() == '"' && claim.back() == '"')
		claim = claim.substr(1, claim.size() - 2);
	if (std::string fault = unlaunched(launched); !fault.empty())
		return std::string(what) + ": " + claim + " is expected, but " + fault;
	std::string why = with_launches(launched_of(launched), [&](ptxloom_device *dev,
								   const ptxloom_launches &which) {
		char line[4096];

		return ::ptxloom_metric_expect(dev, &which, claim.c_str(), line, sizeof(line))
			       ? std::string(line)
			       : std::string();
	});

	return why.empty() ? why : std::string(what) + ": " + why + "\n";
}

template <typename T, typename F>
std::string metric_failure(const char *what, const T &of, const char *name, const char *op,
			   F &&holds, double bound)
{
	const launched &l = launched_of(of);

	if (std::string fault = unlaunched(of); !fault.empty())
		return std::string(what) + ": " + name + " is expected, but " + fault;
	std::string why = with_launches(l, [&](ptxloom_device *dev, const ptxloom_launches &which) {
		std::ostringstream text;
		double value;

		l.device->take_messages();
		if (::ptxloom_metric(dev, &which, name, &value)) {
			std::string said = l.device->take_messages();

			return said.substr(0, said.find_last_not_of('\n') + 1);
		}
		if (holds(value, bound))
			return std::string();
		text.precision(10);
		text << name << " is " << value << ", expected " << op << " " << bound;
		if (char place[4096];
		    !::ptxloom_metric_place(dev, &which, name, place, sizeof(place)))
			text << "\n    most at " << place;
		return text.str();
	});

	return why.empty() ? why : std::string(what) + ": " + why + "\n";
}

} // namespace detail

namespace detail
{

/* Opens a device as it was, also where a framework throws. */
struct seed_guard {
	const device &gpu;
	std::uint64_t seed;

	~seed_guard()
	{
		gpu.reopen(seed);
	}
};

/* Says which schedule has not passed. */
struct schedule_note {
	std::string text;
	bool has_passed = false;

	~schedule_note()
	{
		if (!has_passed)
			std::fprintf(stderr, "ptxloom: fails in %s\n", text.c_str());
	}
};

} // namespace detail

/*
 * For programs with calls of CUDA below `ptxloom run --after-fault=reset`, between two tests:
 * devices that have faulted are new for the next one. Returns how many there were; elsewhere 0. It
 * needs no -lptxloom.
 */
inline int after_test()
{
	void *library = dlopen("libptxloom-runtime.so", RTLD_LAZY | RTLD_NOLOAD);
	void *symbol = library ? dlsym(library, "plrt_after_test") : nullptr;
	int (*function)() = nullptr;

	std::memcpy(&function, &symbol, sizeof(function));
	if (library)
		dlclose(library);
	return function ? function() : 0;
}

/* A metric of a launch, or of all launches of a kernel, by its name as in ptxloom_counters(3); not a
 * number where it is not known. */
template <typename T> double metric(const T &launched, const char *name)
{
	double value = std::numeric_limits<double>::quiet_NaN();

	detail::with_launches(detail::launched_of(launched),
			      [&](ptxloom_device *dev, const ptxloom_launches &which) {
				      if (::ptxloom_metric(dev, &which, name, &value))
					      value = std::numeric_limits<double>::quiet_NaN();
				      return std::string();
			      });
	return value;
}

inline double result::metric(const std::string &name) const
{
	return ptxloom::metric(*this, name.c_str());
}

/* How many expectations of this header were not met. */
inline unsigned failures()
{
	return detail::failure_count();
}

} // namespace ptxloom

/* ---- Frameworks ---- */

#if defined(GTEST_TEST) || defined(GTEST_INCLUDE_GTEST_GTEST_H_)

#define PTXLOOM_FRAMEWORK_ with_googletest
#define PTXLOOM_FAIL_(text) ADD_FAILURE_AT(__FILE__, __LINE__) << (text)
#define PTXLOOM_PASS_() static_cast<void>(0)
#define PTXLOOM_TRACE_(text) SCOPED_TRACE(text)
#define PTXLOOM_FAILED_() ::ptxloom::googletest_failures()

#elif defined(DOCTEST_VERSION)

#define PTXLOOM_FRAMEWORK_ with_doctest
#define PTXLOOM_FAIL_(text) DOCTEST_FAIL_CHECK(text)
#define PTXLOOM_PASS_() DOCTEST_CHECK(true)
#define PTXLOOM_TRACE_(text) DOCTEST_INFO(text)
#define PTXLOOM_FAILED_() 0

#elif defined(CATCH_VERSION_MAJOR) || defined(CATCH_FAIL_CHECK) || defined(TEST_CASE)

#define PTXLOOM_FRAMEWORK_ with_catch2
#ifdef CATCH_FAIL_CHECK
#define PTXLOOM_FAIL_(text) CATCH_FAIL_CHECK(text)
#define PTXLOOM_PASS_() CATCH_CHECK(true)
#define PTXLOOM_TRACE_(text) CATCH_INFO(text)
#else
#define PTXLOOM_FAIL_(text) FAIL_CHECK(text)
#define PTXLOOM_PASS_() CHECK(true)
#define PTXLOOM_TRACE_(text) INFO(text)
#endif
#define PTXLOOM_FAILED_() 0

#else

#define PTXLOOM_FRAMEWORK_ alone
#define PTXLOOM_FAIL_(text)                                                                        \
	static_cast<void>(std::fprintf(stderr, "%s:%d: %s", __FILE__, __LINE__, (text).c_str()))
#define PTXLOOM_PASS_() static_cast<void>(0)
#define PTXLOOM_TRACE_(text) static_cast<void>(text)
#define PTXLOOM_FAILED_() 0

#endif

#if defined(GTEST_TEST) || defined(GTEST_INCLUDE_GTEST_GTEST_H_)

namespace ptxloom
{

/* Of the test that is running. */
inline int googletest_failures()
{
	const ::testing::TestInfo *test = ::testing::UnitTest::GetInstance()->current_test_info();
	int n = 0;

	for (int i = 0; test && i < test->result()->total_part_count(); i++)
		n += test->result()->GetTestPartResult(i).failed();
	return n;
}

/* Calls after_test() after each test; reports get the device and the seed as properties. */
class googletest_listener : public ::testing::EmptyTestEventListener
{
	static void record(const char *property, const char *variable)
	{
		const char *value = std::getenv(variable);

		if (value && *value)
			::testing::Test::RecordProperty(property, value);
	}
	void OnTestEnd(const ::testing::TestInfo &) override
	{
		record("ptxloom.device", "PTXLOOM_DEVICE");
		record("ptxloom.seed", "PTXLOOM_SEED");
		if (int reset = after_test())
			::testing::Test::RecordProperty("ptxloom.reset", reset);
	}
};

} // namespace ptxloom

/* A line of main, after testing::InitGoogleTest. */
#define PTXLOOM_TEST_LISTENER()                                                                    \
	::testing::UnitTest::GetInstance()->listeners().Append(new ::ptxloom::googletest_listener)

#endif

namespace ptxloom
{
/* One for each framework: files of a program may include different ones. */
inline namespace PTXLOOM_FRAMEWORK_
{

/*
 * Call `body` with `count` orders of threads: the natural one, then seeds 1, 2 .. on the same
 * device, opened anew for each. It ends with the first that fails: where `body` returns false or
 * throws, or an expectation of this header or of GoogleTest is not met in it. Prints the seed that
 * repeats it: with PTXLOOM_SEED in the environment, only that order is run. Returns whether all
 * passed.
 */
template <typename F> bool for_each_schedule(const device &gpu, unsigned count, F &&body)
{
	const char *given = std::getenv("PTXLOOM_SEED");
	bool is_given = given && *given, ok = true;
	detail::seed_guard guard{gpu, gpu.seed()};

	for (std::uint64_t seed = 0; ok && seed < (is_given ? 1 : count); seed++) {
		std::string text = is_given ? given : std::to_string(seed);
		detail::schedule_note note{"schedule " + std::to_string(seed + 1) + " of " +
					   std::to_string(count) + "; PTXLOOM_SEED=" + text +
					   " repeats it"};
		unsigned failed = failures();
		int failed_there = PTXLOOM_FAILED_();
		PTXLOOM_TRACE_(note.text);

		gpu.reopen(seed);
		if constexpr (std::is_same_v<std::invoke_result_t<F &>, bool>)
			ok = body();
		else
			body();
		ok = ok && failures() == failed && PTXLOOM_FAILED_() == failed_there;
		note.has_passed = ok;
	}
	return ok;
}

} // namespace PTXLOOM_FRAMEWORK_
} // namespace ptxloom

#define PTXLOOM_EXPECT_(why)                                                                       \
	do {                                                                                       \
		const std::string ptxloom_why_ = (why);                                            \
		if (ptxloom_why_.empty()) {                                                        \
			PTXLOOM_PASS_();                                                           \
		} else {                                                                           \
			++::ptxloom::detail::failure_count();                                      \
			PTXLOOM_FAIL_(ptxloom_why_);                                               \
		}                                                                                  \
	} while (false)

/* It ran without a fault, and checks found no error. */
#define EXPECT_LAUNCH(...)                                                                         \
	PTXLOOM_EXPECT_(::ptxloom::detail::launch_failure(#__VA_ARGS__, __VA_ARGS__))
/* It faulted by this rule: out_of_bounds, misaligned, assert ..: ptxloom_last_fault(3). */
#define EXPECT_FAULT(launch, rule)                                                                 \
	PTXLOOM_EXPECT_(::ptxloom::detail::fault_failure(#launch, launch, #rule))
/* A check, or a kind of finding as JSON and suppressions name it: "race". */
#define EXPECT_FINDING(launch, wanted)                                                             \
	PTXLOOM_EXPECT_(::ptxloom::detail::finding_failure(#launch, launch, wanted))
/* EXPECT_NEAR_ALL(got, want[, tolerance]) */
#define EXPECT_NEAR_ALL(got, ...)                                                                  \
	PTXLOOM_EXPECT_(::ptxloom::detail::near_failure(#got, got, __VA_ARGS__))

/*
 * A metric of a launch (a result), or of all launches of a kernel: EXPECT_METRIC(r, bank_conflicts ==
 * 0), with "+- 5%" behind the number for those that depend on the compiler, or EXPECT_METRIC(r,
 * "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", <=, 8192). Names are those of
 * ptxloom_counters(3). Programs that expect metrics count in all launches of kernels.
 */
#define EXPECT_METRIC(...)                                                                         \
	PTXLOOM_METRIC_PICK_(__VA_ARGS__, PTXLOOM_METRIC_4_, PTXLOOM_METRIC_WRONG_,                \
			     PTXLOOM_METRIC_2_, PTXLOOM_METRIC_WRONG_, _)                          \
	(__VA_ARGS__)
#define PTXLOOM_METRIC_PICK_(a, b, c, d, pick, ...) pick
#define PTXLOOM_METRIC_2_(what, claim)                                                             \
	do {                                                                                       \
		PTXLOOM_METRIC_NOTE_(#claim)                                                       \
		PTXLOOM_EXPECT_(::ptxloom::detail::claim_failure(#what, what, #claim));            \
	} while (false)
#define PTXLOOM_METRIC_4_(what, name, op, bound)                                                   \
	do {                                                                                       \
		PTXLOOM_METRIC_NOTE_(#name)                                                        \
		PTXLOOM_EXPECT_(::ptxloom::detail::metric_failure(                                 \
			#what, what, name, #op, [](double a_, double b_) { return a_ op b_; },     \
			static_cast<double>(bound)));                                              \
	} while (false)
#define PTXLOOM_METRIC_NOTE_(claim)                                                                \
	struct ptxloom_claim_ {                                                                    \
		static const char *text()                                                          \
		{                                                                                  \
			return claim;                                                              \
		}                                                                                  \
	};                                                                                         \
	static_cast<void>(&::ptxloom::detail::claim_note<ptxloom_claim_>::is_noted);
#define PTXLOOM_METRIC_WRONG_(...)                                                                 \
	static_assert(false,                                                                       \
		      "EXPECT_METRIC(launch, claim) or EXPECT_METRIC(launch, name, op, bound)")

#endif
