package catalog

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// StdinName is the name of the standard input in errors.
const StdinName = "<stdin>"

// EachFile reads scenario files (- is the standard input), and goes on after a mistake to report all at once. Its
// errors are the user's mistakes.
func EachFile(in io.Reader, names []string, use func(name string, data []byte) error) error {
	var wrong []error
	for _, name := range names {
		name, data, err := readScenario(in, name)
		if err == nil {
			err = use(name, data)
		}
		if err != nil {
			wrong = append(wrong, err)
		}
	}
	return errors.Join(wrong...)
}

func readScenario(in io.Reader, name string) (_ string, data []byte, err error) {
	if name == Stdin {
		data, err = io.ReadAll(io.LimitReader(in, maxStdin))
		return StdinName, data, err
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return name, nil, err
	case info.IsDir():
		return name, nil, fmt.Errorf("found the directory %s, expected a file\nhint: name the files in it: %s", name,
			filepath.Join(name, "*.yaml"))
	case info.Mode().Type()&^os.ModeNamedPipe != 0: // a pipe can be read once
		return name, nil, fmt.Errorf("%s is no regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return name, nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err = io.ReadAll(io.LimitReader(f, maxStdin))
	return name, data, err
}

// Beginning is a scenario to start from.
func Beginning(name string) string {
	return fmt.Sprintf(`# yaml-language-server: $schema=https://raw.githubusercontent.com/isr-sim/isr-sim/main/docs/scenario.schema.json
name: %s
about: |
  A writer is paused after it has acquired the lock, and publishes when another machine
  has taken the lock over. Its page must not replace the newer one.
cache: # how every machine's cache is configured
  lease: 10s
  revalidate: 60s
  render: 3s
actors: # one machine each, and what its client does
  - name: alice
    script: [get /home]
    pauses: 1 # the schedule may stop her machine once, at any moment,
    pause-for: 15s # for at least this long
  - name: bob
    script: [change /home, sleep 5s, get /home]
faults: # what may go wrong in the store, the body store and the origin
  - maybe response-lost op=TransactWriteItems
reach: [pause, lock-taken-over] # marks that a campaign must reach, to count
`, name)
}
