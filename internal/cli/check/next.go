package check

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/clients/js"
	"github.com/isr-sim/isr-sim/internal/base/atomicfile"
	"github.com/isr-sim/isr-sim/internal/base/shell"
	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/search/engine"
	"github.com/isr-sim/isr-sim/internal/subject/list/draw"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// handler makes the cache handler of Next.js in the file of --next the program of the check.
func (c *command) handler(cmd *cobra.Command, check *engine.Check) error {
	for _, other := range []string{"exec", "protocol", "tenants", check.Of.Program.Flag} {
		if cmd.Flags().Changed(other) {
			return cli.Usage(fmt.Errorf("--next does not go with --%s: the handler is the program", other), "")
		}
	}
	if _, err := os.Stat(c.next); err != nil {
		return cli.Usage(fmt.Errorf("--next: found no file %q, expected that of the cache handler", c.next), "")
	}
	driver, err := driver()
	if err != nil {
		return cli.Unknown(fmt.Errorf("--next: %w", err), "")
	}
	probed, err := probe(cmd, driver, c.next)
	if err != nil {
		return err
	}
	c.Exec = "node " + shell.Quote(driver) + " " + shell.Quote(c.next)
	check.Of, check.Exact = draw.Entries, true
	if !cmd.Flags().Changed("reach") {
		check.Reach = slices.Clone(check.Of.Reach)
	}
	fmt.Fprintf(c.Out, "next: %s of %s\n", probed.Contract, c.next)
	judging := []string{"no-lost-invalidation", "liveness"} // these judge what clients are served
	// The other contract counts from lastModified, which may be the end of a rendering.
	if probed.Contract == "cacheHandlers" {
		judging = append(judging, "freshness")
	}
	if check.Promise.MaxAge > 0 {
		judging = append(judging, "bounded-staleness")
	}
	if check.Promise.AcrossNodes {
		judging = append(judging, "monotonic-reads")
	}
	for _, inv := range check.Of.About().All {
		if out := c.rows == "" || inv.Name == "freshness"; out && !slices.Contains(judging, inv.Name) &&
			!slices.Contains(check.Without, inv.Name) {
			check.Without = append(check.Without, inv.Name)
		}
	}
	if c.rows != "" {
		return nil
	}
	for _, t := range probed.Tables {
		if t.Partition == "" {
			return cli.Usage(fmt.Errorf(
				"--next: found no key of the table %s in the handler's requests, expected --rows", t.Table,
			), `a file with rows: [{table: `+t.Table+`, partition: "id = {*}"}], and so on`)
		}
		check.Rows.Rows = append(check.Rows.Rows, t.row())
		fmt.Fprintf(c.Out, "table, as its requests show it: %s\n", t)
	}
	fmt.Fprintf(c.Out, "judged without --rows: %s\n", strings.Join(judging, ", "))
	return nil
}

// driver writes the kit and the driver to where later commands, such as replay, find them, and returns the driver's
// file.
func driver() (string, error) {
	files := []string{"index.mjs", "next.mjs"}
	sum := fnv.New64a()
	for _, name := range files {
		text, _ := js.Files.ReadFile(name) // it is embedded
		_, _ = sum.Write(text)
	}
	folder, err := os.UserCacheDir()
	if err == nil {
		folder = filepath.Join(folder, "isr-sim", fmt.Sprintf("next-%x", sum.Sum64()))
		err = os.MkdirAll(folder, 0o777)
	}
	if err != nil { // such as that of a user without a home
		if folder, err = os.MkdirTemp("", "isr-sim-next-"); err != nil {
			return "", err
		}
	}
	for _, name := range files {
		text, _ := js.Files.ReadFile(name)
		if err := atomicfile.Write(filepath.Join(folder, name), text, 0o644); err != nil {
			return "", err
		}
	}
	return filepath.Join(folder, "next.mjs"), nil
}

// probed is the result of using a handler once, outside of isr-sim.
type probed struct {
	Contract string
	Tables   []table
}

// table is a table of the handler: the names of its keys with their types, and its indexes in the form of isr.Row.
type table struct{ Table, Partition, Sort, Index string }

func (t table) row() isr.Row {
	r := isr.Row{Table: t.Table, Partition: t.Partition + " = {*}", Index: t.Index}
	if t.Sort != "" {
		r.Sort = t.Sort + " = {*}"
	}
	return r
}

func (t table) String() string {
	text := t.Table + ": " + t.Partition
	if t.Sort != "" {
		text += ", " + t.Sort
	}
	if t.Index != "" {
		text += "; index " + t.Index
	}
	return text
}

// probe runs a handler once.
func probe(cmd *cobra.Command, driver, file string) (p probed, err error) {
	var said, failed bytes.Buffer
	node := exec.CommandContext(cmd.Context(), "node", driver, file, "probe")
	node.Stdout, node.Stderr = &said, &failed
	switch err := node.Run(); {
	case errors.Is(err, exec.ErrNotFound):
		return p, cli.Unknown(errors.New("--next: found no node, expected Node.js 20 or later on the PATH"), "")
	case err != nil:
		return p, cli.Unknown(fmt.Errorf("--next: %s", cmp.Or(strings.TrimSpace(failed.String()), err.Error())), "")
	}
	if err := json.Unmarshal(said.Bytes(), &p); err != nil {
		return p, cli.Unknown(fmt.Errorf("--next: found %q, expected what the handler is: %w", said.String(), err), "")
	}
	return p, nil
}
