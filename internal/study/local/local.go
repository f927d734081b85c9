// Package local runs DynamoDB Local in a container for the command, by the program docker. The library's tests use
// fixtures/ddblocal instead, whose Docker client takes longer to compile than most of the command.
package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Image is the container image of DynamoDB Local. It is pinned, because the fake is compared with one known version.
// Docker pulls it if it can reach a registry; `bash .ci/image` builds it otherwise.
const Image = "amazon/dynamodb-local:3.3.1"

// Region is the region that clients name. DynamoDB Local keeps separate tables for each region.
const Region = "us-east-1"

// Command runs DynamoDB Local as process 1, and beside it a shell that waits for the end of standard input and then
// ends DynamoDB Local. Whoever started the container holds the other end of that input, so the container cannot outlive
// its starter. The kill is repeated because a process 1 ignores the signal until it has installed a handler, which Java
// does a moment after its start.
//
// Java's default encoding in a container without a locale is not UTF-8. Then DynamoDB Local misreads its NextToken and
// the strings of sets, and a read of pages never ends. Most servers run only for seconds: with one of Java's two
// compilers and the plain collector a start takes half the processor time (3.1 s, 6.6 before), and so do the first
// requests.
var Command = []string{
	"sh", "-c",
	`exec 3<&0
	{ while read -r _; do :; done; while kill 1; do :; done; } <&3 &
	exec java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
		-Dfile.encoding=UTF-8 -Djava.library.path=./DynamoDBLocal_lib -jar DynamoDBLocal.jar "$@"`,
	"dynamodb-local",
}

// Arguments of the server: nothing on disk, no telemetry, and one database for each access key id (no -sharedDb).
var Arguments = []string{"-inMemory", "-disableTelemetry"}

// ErrNoDocker says that no Docker engine answers, or that it lacks the image and cannot pull it. The error says what to
// do.
var ErrNoDocker = errors.New("no DynamoDB Local")

const (
	// PingTimeout is how long an engine may take to answer: long for a local socket, short for somebody without Docker.
	PingTimeout = 2 * time.Second
	// AnswerTimeout bounds the wait for the first answer, which takes 2 to 3 s on an idle machine and has taken more
	// than a minute on one with thirty busy processes.
	AnswerTimeout = 3 * time.Minute
	// askEvery is the pause between two questions to a server that does not answer yet.
	askEvery = 50 * time.Millisecond
)

// Server is a running DynamoDB Local.
type Server struct {
	endpoint string
	run      *exec.Cmd
	alive    interface{ Close() error } // its standard input, whose end ends the container
	output   bytes.Buffer
	ended    chan struct{} // closed when the container has ended
}

// Start runs a container, and returns when it has answered a request. The container ends with Close, or at the latest
// with this process.
func Start(ctx context.Context) (*Server, error) {
	quick, cancel := context.WithTimeout(ctx, PingTimeout)
	defer cancel()
	if _, err := docker(quick, "version", "--format", "{{.Server.Version}}"); err != nil {
		return nil, fmt.Errorf("%w: no Docker engine answers: %w; start Docker, or on a machine without an init "+
			"system run: bash .ci/docker start", ErrNoDocker, err)
	}
	if _, err := docker(ctx, "image", "inspect", "--format", "{{.Id}}", Image); err != nil {
		if _, err := docker(ctx, "pull", "--quiet", Image); err != nil {
			return nil, fmt.Errorf("%w: the image is missing and cannot be pulled: %w; where no registry can be "+
				"reached, build it: bash .ci/image", ErrNoDocker, err)
		}
	}
	s, err := start(ctx)
	if err != nil {
		return nil, fmt.Errorf("container of %s: %w", Image, err)
	}
	return s, nil
}

// docker runs the program, and returns the first line that it prints.
func docker(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "docker", args...).Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok && len(failed.Stderr) > 0 {
		err = errors.New(strings.TrimSpace(string(failed.Stderr)))
	}
	first, _, _ := strings.Cut(string(out), "\n")
	return first, err
}

func start(ctx context.Context) (*Server, error) {
	host, publish := "127.0.0.1", "127.0.0.1::8000"
	if engine, err := url.Parse(os.Getenv("DOCKER_HOST")); err == nil && engine.Hostname() != "" {
		host, publish = engine.Hostname(), "8000" // the engine is on another machine
	}
	name := fmt.Sprintf("isr-sim-%d", os.Getpid())
	args := []string{
		"run", "--rm", "--interactive", "--name", name, "--publish", publish, "--entrypoint", Command[0], Image,
	}
	args = append(append(args, Command[1:]...), Arguments...)
	s := &Server{run: exec.Command("docker", args...), ended: make(chan struct{})}
	s.run.Stdout, s.run.Stderr = &s.output, &s.output
	input, err := s.run.StdinPipe()
	if err != nil {
		return nil, err
	}
	s.alive = input
	if err := s.run.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(s.ended)
		_ = s.run.Wait() // its answers show whether it served
	}()
	if err := s.awaitAnswer(ctx, name, host); err != nil {
		_ = s.Close(context.WithoutCancel(ctx)) // after that, everything is printed
		return nil, fmt.Errorf("%w; it printed:\n\t%s", err,
			strings.ReplaceAll(strings.TrimSpace(s.output.String()), "\n", "\n\t"))
	}
	return s, nil
}

// awaitAnswer asks at the published port until the server answers.
func (s *Server) awaitAnswer(ctx context.Context, name, host string) error {
	return Await(ctx, s.ended, "container "+name, func(ctx context.Context) error {
		if s.endpoint == "" {
			published, err := docker(ctx, "port", name, "8000/tcp")
			if err != nil {
				return err
			}
			s.endpoint = "http://" + net.JoinHostPort(host, published[strings.LastIndexByte(published, ':')+1:])
		}
		return Ask(ctx, s.Client())
	})
}

// Await calls ask until there is no error, the container has ended, or [AnswerTimeout] is over. where is for the error.
func Await(ctx context.Context, ended <-chan struct{}, where string, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, AnswerTimeout)
	defer cancel()
	again := time.NewTicker(askEvery) //nolint:forbidigo // a container starts in real time
	defer again.Stop()
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ended:
			return errors.New("ended before its first answer")
		case <-ctx.Done():
			return fmt.Errorf("no answer at %s: %w", where, err)
		case <-again.C:
		}
	}
}

// Ask asks for the list of tables. Only an answer counts, because a published port accepts connections long before the
// server listens. The request must not hang at an address that swallows packets.
func Ask(ctx context.Context, client *dynamodb.Client) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err := client.ListTables(ctx, &dynamodb.ListTablesInput{})
	return err
}

// Client returns a new client of the server's first database.
func (s *Server) Client() *dynamodb.Client { return dynamodb.New(Options(s.endpoint, "isrsim")) }

// Options are the options of a client of one database, which the access key id names, in letters and digits. The client
// never retries: a caller sees what the server answered.
func Options(endpoint, database string) dynamodb.Options {
	// Built by hand: the SDK's default configuration would read this machine's files and variables.
	return dynamodb.Options{
		BaseEndpoint: aws.String(endpoint),
		Region:       Region,
		Credentials:  credentials.NewStaticCredentialsProvider(database, "secret", ""),
		Retryer:      aws.NopRetryer{},
	}
}

// Close ends the container and waits until it has ended. If ctx ends first, the container still ends by itself.
func (s *Server) Close(ctx context.Context) error {
	err := s.alive.Close()
	select {
	case <-s.ended:
		return nil
	case <-ctx.Done():
		return errors.Join(err, ctx.Err())
	}
}
