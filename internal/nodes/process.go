package nodes

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/isr-sim/isr-sim/internal/sim"
)

// The bounds of one process.
const (
	maxConnections = 100     // open at the same time
	maxStderr      = 1 << 20 // bytes within one incarnation
	maxWords       = 2 << 10 // bytes of stderr that a message about an ended process shows
	maxRestful     = 10_000  // requests within one command that are not steps of the run
)

// process is a running copy of the program. One run at a time uses it.
type process struct {
	program  *Program
	cmd      *exec.Cmd
	stdin    io.WriteCloser
	out      [2]io.Closer // stdout and stderr, to be read
	listener net.Listener
	server   *http.Server
	can      []string

	events chan event      // its output
	gone   chan struct{}   // closed when it must not be used any more: it failed, or was killed
	exited chan struct{}   // closed when it has been waited for
	left   <-chan struct{} // see sim.Config.Left
	reset  bool            // its last incarnation is over, and it is ready for the next
	// verifies says that it runs only histories that another process ran before
	verifies bool

	mu          sync.Mutex
	name        string // the name of the actor whose incarnation it is
	stderr      int    // bytes printed in this incarnation
	tail        []byte // the last of them
	connections map[net.Conn]connection
	incarnation int        // how many incarnations came before
	underWay    []*arrival // the requests that are not yet answered
	failure     string     // its first mistake
	hint        string
	ended       bool // it failed because it came to its end: its earlier lines count
}

// event is a line, a request, a request for which the program no longer waits, or one whose time limit is over: exactly
// one of these.
type event struct {
	line    []byte
	arrival *arrival
	left    *arrival
	late    *arrival
}

// start starts a process and waits for its hello.
func (g *Program) start(actor string, left <-chan struct{}, verifies bool) (*process, error) {
	p := &process{
		program: g, cmd: shellCommand(g.Command), events: make(chan event, 4), gone: make(chan struct{}),
		exited: make(chan struct{}), name: actor, left: left, verifies: verifies,
		connections: map[net.Conn]connection{},
	}
	// hashes, and so the order of sets, are the same in every process
	p.cmd.Env = append([]string{"PYTHONHASHSEED=0", "PERL_HASH_SEED=0"}, os.Environ()...)
	broken := func(err error) (*process, error) {
		return nil, &Error{actor, starting, err.Error(), ""}
	}
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return broken(err)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return broken(err)
	}
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		return broken(err)
	}
	if p.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return broken(err)
	}
	if err := p.cmd.Start(); err != nil {
		_ = p.listener.Close() // the error above says more
		return broken(err)
	}
	g.warden.begins(p.cmd)
	p.out = [2]io.Closer{stdout, stderr}
	p.serve()
	var reading sync.WaitGroup
	reading.Go(func() { p.readLines(stdout) })
	reading.Go(func() { p.passStderr(stderr) })
	go p.awaitEnd(&reading)
	s, err := p.line(starting)
	if err != nil {
		p.kill()
		return nil, err
	}
	if err := s.hello(); err != nil {
		p.kill()
		return broken(err)
	}
	if err := g.greet(s); err != nil {
		p.kill()
		return broken(err)
	}
	p.mu.Lock()
	p.can = s.Can
	p.mu.Unlock()
	return p, nil
}

// awaitEnd waits for the end of the process, and notes it once its output is read. It does not wait for a child that
// holds stdout and stderr for longer, as os/exec would.
func (p *process) awaitEnd(reading *sync.WaitGroup) {
	read := make(chan struct{})
	go func() {
		reading.Wait()
		close(read)
	}()
	state, err := p.cmd.Process.Wait()
	end, hint := state.String(), ""
	if err != nil {
		end = err.Error()
	}
	unread := newDeadline(lastReading)
	defer unread.stop()
	select {
	case <-read:
	case <-unread.over():
		hint = "a process that it has started still has its stdout or stderr"
		for _, out := range p.out {
			_ = out.Close()
		}
	}
	p.mu.Lock()
	p.cmd.ProcessState = state
	p.ended = p.failure == ""
	words := p.words()
	p.mu.Unlock()
	p.fail("its process ended: "+end+words, hint)
	<-read
	_ = p.stdin.Close()
	for _, out := range p.out {
		_ = out.Close()
	}
	close(p.exited)
}

// readLines hands over the lines of the program.
func (p *process) readLines(stdout io.Reader) {
	lines := bufio.NewScanner(stdout)
	lines.Buffer(make([]byte, 0, 4096), maxLine)
	for lines.Scan() {
		if p.takeInLine(lines.Bytes()) {
			continue
		}
		if !p.say(event{line: bytes.Clone(lines.Bytes())}) {
			break
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		p.fail(fmt.Sprintf("printed a line of more than %d bytes on stdout", maxLine), "")
	}
	_, _ = io.Copy(io.Discard, stdout) // a program that is being killed may still print
}

// passStderr prints what the program prints, with the actor's name before each line.
func (p *process) passStderr(stderr io.Reader) {
	lines := bufio.NewReaderSize(stderr, 4096)
	for {
		line, _, err := lines.ReadLine() // in parts if it is long
		if err != nil {
			return
		}
		p.mu.Lock()
		name, before := p.name, p.stderr
		p.stderr += len(line) + 1
		p.tail = append(append(p.tail, line...), '\n')
		if extra := len(p.tail) - maxWords; extra > 0 {
			p.tail = append(p.tail[:0], p.tail[extra:]...)
		}
		p.mu.Unlock()
		if before > maxStderr {
			p.fail(fmt.Sprintf("printed more than %d bytes on stderr", maxStderr), "")
			continue
		}
		p.program.note(name, line)
	}
}

// words is the end of a message about a problem: the program's last words on stderr, which may explain the problem.
// p.mu is held.
func (p *process) words() string {
	words := p.tail
	if len(words) == maxWords {
		_, words, _ = bytes.Cut(words, []byte("\n")) // the first line may be half a line
	}
	if words = bytes.TrimSpace(words); len(words) == 0 {
		return ""
	}
	return "; its last words on stderr:\n" + string(bytes.ToValidUTF8(words, []byte("?")))
}

// say hands an event over to the run. It returns false if nobody listens any more.
func (p *process) say(e event) bool {
	select {
	case p.events <- e:
		return true
	case <-p.gone:
		return false
	}
}

// fail notes the program's first mistake, and releases everything that waits for the program.
func (p *process) fail(problem, hint string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failure == "" {
		p.failure, p.hint = problem, hint
		close(p.gone)
	}
}

// wrong is the error of a program that breaks the protocol. The process is not used any more.
func (p *process) wrong(at, problem, hint string) *Error {
	p.fail(problem, hint)
	p.mu.Lock()
	defer p.mu.Unlock()
	return &Error{p.name, at, problem, hint}
}

// failed is the error of a program that has failed.
func (p *process) failed(at string) *Error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return &Error{p.name, at, p.failure, p.hint}
}

// parallel reports whether the program may have several requests under way.
func (p *process) parallel() bool {
	return slices.Contains(p.can, canQuiet) || slices.Contains(p.can, canParallel)
}

// next waits for the next thing that the program says.
func (p *process) next(at string) (event, error) { return p.nextWithin(at, nil) }

// nextWithin is next with a limit: it returns no event if the program says nothing until enough fires. A nil enough
// never fires.
func (p *process) nextWithin(at string, enough <-chan time.Time) (event, error) {
	limit := newDeadline(p.program.limit())
	defer limit.stop()
	select {
	case <-p.left: // checked first, because a program that is never silent always has another event
		return event{}, sim.ErrLeft
	case <-p.gone:
		return p.last(at)
	default:
	}
	select {
	case e := <-p.events:
		return e, nil
	case <-p.left:
		return event{}, sim.ErrLeft
	case <-p.gone:
		return p.last(at)
	case <-enough:
		return event{}, nil
	case <-limit.over():
		p.fail(fmt.Sprintf("said nothing for %v of real time: no request and no line", p.program.limit()),
			"a line ends with a newline, and is flushed; "+
				"a slow node gets more time with --exec-limit; one that waits asks for it: POST /_isr-sim/sleep; "+
				"one that waits for something real, such as a child process that does not end, cannot be simulated")
		return event{}, p.failed(at)
	}
}

// last is the program's last output before it ended, or its error if it has failed.
func (p *process) last(at string) (event, error) {
	p.mu.Lock()
	ended := p.ended
	p.mu.Unlock()
	if ended {
		select {
		case e := <-p.events:
			return e, nil
		default:
		}
	}
	return event{}, p.failed(at)
}

// line waits for a line; no request may come before it.
func (p *process) line(at string) (said, error) {
	e, err := p.next(at)
	for err == nil && (e.left != nil || e.late != nil) { // it is for an incarnation that is over
		e, err = p.next(at)
	}
	if err != nil {
		return said{}, err
	}
	if e.arrival != nil {
		p.fail(fmt.Sprintf("sent %s, expected a line on stdout", e.arrival),
			"a node works only between a command and its reply")
		return said{}, p.failed(at)
	}
	s, err := parseLine(e.line)
	if err != nil {
		p.fail(err.Error(), "the program's own messages go to stderr")
		return said{}, p.failed(at)
	}
	return s, nil
}

// tell writes lines to the program.
func (p *process) tell(all ...toldLine) {
	var text bytes.Buffer
	lines := json.NewEncoder(&text)
	for _, t := range all {
		if err := lines.Encode(t); err != nil {
			p.fail("it cannot be told of its command: "+err.Error(), "")
			return
		}
	}
	written := make(chan error, 1)
	go func() { // a program that does not read must not stop the run
		_, err := p.stdin.Write(text.Bytes())
		written <- err
	}()
	limit := newDeadline(p.program.limit())
	defer limit.stop()
	select {
	case err := <-written:
		if err == nil {
			return
		}
		// The program has most likely ended: that says more than a broken pipe.
		select {
		case <-p.exited:
		case <-p.left:
		case <-limit.over():
			p.fail("it reads no lines: "+err.Error(), "")
		}
	case <-p.gone:
	case <-p.left:
	case <-limit.over():
		p.fail(fmt.Sprintf("read no line of stdin for %v", p.program.limit()), "")
	}
}

// forget ends an incarnation; then the process is ready for the next, or killed. within says that it ended in the
// middle of a command.
func (p *process) forget(within bool, now int64) error {
	const many = 40 // each request that is never answered may keep a connection
	p.mu.Lock()
	able := slices.Contains(p.can, canReset) &&
		(!within || slices.Contains(p.can, canAbandon) && len(p.connections) < many)
	p.underWay = nil
	p.mu.Unlock()
	if !able {
		if !within {
			p.tell(toldLine{Type: "end", Time: now})
		}
		p.kill()
		return nil
	}
	p.tell(toldLine{Type: "reset", Time: now})
	s, err := p.line(resetting)
	for err == nil && s.Type == "quiet" { // it belongs to the incarnation that is over
		s, err = p.line(resetting)
	}
	if err == nil && s.Type != "ready" {
		p.fail(
			fmt.Sprintf("printed a line of type %q, expected ready: it has answered a command twice, or no reset",
				s.Type), "",
		)
		err = p.failed(resetting)
	}
	if err != nil {
		p.kill()
		if p.retired() {
			return nil
		}
		return err
	}
	p.mu.Lock()
	p.stderr, p.tail = 0, nil
	p.closeUnused()
	p.incarnation++
	p.mu.Unlock()
	p.reset = true
	return nil
}

// retired reports whether the program, which has exited, ended without an error, as a program does at a reset if it
// cannot forget.
func (p *process) retired() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended && p.cmd.ProcessState.Success()
}

// kill ends the process, and waits until it is gone.
func (p *process) kill() {
	p.fail("it was ended", "")
	kill(p.cmd)
	_ = p.stdin.Close()  // its reader is gone
	_ = p.server.Close() // it holds nothing but connections
	defer p.program.warden.ends(p.cmd)
	words := newDeadline(lastWords)
	defer words.stop()
	select {
	case <-p.exited:
		return
	case <-words.over():
	}
	for _, out := range p.out { // a child in its own session may still hold them
		_ = out.Close()
	}
	<-p.exited
}
