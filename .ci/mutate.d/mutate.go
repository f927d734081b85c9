//go:build ignore

// The program of .ci/mutate, which says what it is for.
//
// A mutant is the text of one file with one place changed. All mutants of a package are compiled once, as twins of the
// functions that they are in, through the overlay of the go command. A variable of the environment says which twin is
// called. A mutant that does not compile does not count. Only tests that run the mutant's code are run on it, the
// fastest first. If no test runs that code, the mutant has survived.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

var (
	all   = flag.Bool("all", false, "all files of the packages, and not the held ones only")
	files = flag.String("files", "", "only these files, by name, with commas between them")
	line  = flag.String("line", "",
		"only these lines, as FILE:NUMBER or FILE:NUMBER-NUMBER, with commas between them")
	only    = flag.String("run", "", "ask only the tests of the package whose names match this")
	shard   = flag.String("shard", "1/1", "which part of the mutants, of how many")
	take    = flag.Int("sample", 0, "only this many mutants of each package, the same ones every time; 0 takes all")
	users   = flag.Bool("users", true, "ask the tests of the packages that import the mutated one, too")
	list    = flag.Bool("list", false, "print the mutants, and run nothing")
	verbose = flag.Bool("v", false, "print the mutants that are killed, too")
)

// packages are the packages that judge other code. A mistake in them can pass broken code in silence.
var packages = []string{"internal/sim", "internal/sim/exhaustive", "internal/kernel", "internal/nodes",
	"internal/protocols/rowmap", "internal/search/campaign", "internal/search/engine", "internal/search/reschedule",
	"internal/search/schedules", "internal/search/worlds", "internal/subject/calls/draw",
	"internal/subject/locks/draw", "internal/subject/pages/draw", "property", "internal/kernel/deadline",
	"internal/kernel/livelock", "internal/kernel/symmetry", "internal/invariant"}

// chosen says whether -line selects a line.
func chosen(file string, n int) bool {
	if *line == "" {
		return true
	}
	return slices.ContainsFunc(strings.Split(*line, ","), func(one string) bool {
		name, lines, _ := strings.Cut(one, ":")
		first, last, isRange := strings.Cut(lines, "-")
		if !isRange {
			last = first
		}
		from, err1 := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		return err1 == nil && err2 == nil && name == file && from <= n && n <= to
	})
}

// readAccepted reads the list of the mutants that may survive. Each stands there as it is printed, followed by its
// reason.
func readAccepted(name string) (map[string]bool, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	met := map[string]bool{}
	for _, block := range strings.Split(string(text), "\n\n") {
		lines := strings.Split(strings.TrimSpace(block), "\n")
		if strings.HasPrefix(lines[0], "#") || lines[0] == "" {
			continue
		}
		where, function, _ := strings.Cut(lines[0], " ")
		if len(lines) < 4 || !strings.HasPrefix(lines[1], "\t- ") || !strings.HasPrefix(lines[2], "\t+") {
			return nil, fmt.Errorf(
				"%s: found %q, expected FILE FUNCTION, a line with -, a line with +, and the reason, each behind a tab",
				name, block,
			)
		}
		file, _, _ := strings.Cut(where, ":")
		met[strings.Join([]string{file, function, lines[1][3:], strings.TrimSpace(lines[2][2:])}, "\n")] = false
	}
	return met, nil
}

// readHeld reads the list of the files in which only accepted mutants survive. It returns, for each file, a regular
// expression for the names of the tests that are run on it; "" means all tests of the package.
func readHeld(name string) (map[string]string, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	held := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		line, tests, _ := strings.Cut(line, " ")
		if _, err := os.Stat(line); err != nil || !slices.Contains(packages, filepath.ToSlash(filepath.Dir(line))) {
			return nil, fmt.Errorf("%s: found %q, expected a file in one of %v", name, line, packages)
		}
		held[line] = tests
	}
	return held, nil
}

// sampled returns n of the mutants (all, if n is 0), chosen by a hash of each mutant. The same mutants are chosen every
// time, and a change elsewhere in the code replaces few of them.
func sampled(all []*mutant, n int) []*mutant {
	if n == 0 || n >= len(all) {
		return all
	}
	hash := func(m *mutant) uint64 {
		h := fnv.New64a()
		fmt.Fprintf(h, "%s\n%s", m.key(), m.text)
		return h.Sum64() * 0x9E3779B97F4A7C15 // FNV's first bytes hardly depend on the last bytes of its input
	}
	byHash := func(a, b *mutant) int { return cmp.Compare(hash(a), hash(b)) }
	chosen := slices.SortedStableFunc(slices.Values(all), byHash)[:n]
	slices.SortFunc(chosen, func(a, b *mutant) int { return cmp.Compare(a.number, b.number) })
	return chosen
}

// row is a line of the printed table: how many mutants had each fate.
type row map[fate]int

func (r row) print(name string, all int) {
	sum := 0
	for _, n := range r {
		sum += n
	}
	fmt.Printf("%-36s %8d %6d", name, all, sum)
	for _, f := range fates {
		fmt.Printf(" %*d", len(f), r[f])
	}
	fmt.Println()
}

func run() error {
	flag.Parse()
	var part, parts int
	if n, err := fmt.Sscanf(*shard, "%d/%d", &part, &parts); n != 2 || err != nil || part < 1 || part > parts {
		return fmt.Errorf("-shard: found %q, expected a part of how many, such as 2/8", *shard)
	}
	const acceptedFile = ".ci/mutate.d/accepted"
	listedAsAccepted, err := readAccepted(acceptedFile)
	if err != nil {
		return err
	}
	held, err := readHeld(".ci/mutate.d/held")
	if err != nil {
		return err
	}
	everything, err := listed("./...")
	if err != nil {
		return err
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	names, whole := flag.Args(), *all || *files != "" || *line != "" || flag.NArg() > 0
	if len(names) == 0 {
		names = packages
	}
	type line struct {
		name string
		all  int
		row
	}
	var table []line
	total, began, broken := line{"in all", 0, row{}}, time.Now(), 0
	for _, name := range names {
		name = filepath.ToSlash(filepath.Clean(name))
		i := slices.IndexFunc(everything, func(p goPackage) bool { return p.Dir == filepath.Join(root, name) })
		if i < 0 {
			return fmt.Errorf("found no package in %s", name)
		}
		s := &subject{goPackage: everything[i], files: map[string]*mutator{}, failed: map[*mutant]bool{}}
		asked := []goPackage{s.goPackage}
		for _, p := range everything {
			imports := slices.Concat(p.Imports, p.TestImports, p.XTestImports)
			if *users && p.ImportPath != s.ImportPath && slices.Contains(imports, s.ImportPath) {
				asked = append(asked, p)
			}
		}
		// The tests of commands take longest, and few faults are left for them.
		slices.SortStableFunc(asked[1:], func(a, b goPackage) int { return cmp.Compare(len(a.Deps), len(b.Deps)) })
		var found []*mutant
		for _, file := range s.GoFiles {
			m, err := mutants(name + "/" + file)
			if err != nil {
				return err
			}
			s.files[file] = m
			for _, one := range m.found {
				if _, known := listedAsAccepted[one.key()]; known {
					listedAsAccepted[one.key()] = true
				}
				tests, isHeld := held[m.name]
				if chosen(file, one.line) && (*files == "" || slices.Contains(strings.Split(*files, ","), file)) &&
					(whole || isHeld) {
					s.asked = append(s.asked, cmp.Or(*only, tests, "."))
					one.number = len(found) + 1
					found = append(found, one)
				}
			}
		}
		elsewhere := func(m *mutant) bool { return m.number%parts != part%parts }
		sample := slices.DeleteFunc(sampled(slices.Clone(found), *take), elsewhere)
		if *list {
			for _, m := range sample {
				fmt.Println(m)
			}
			continue
		}
		for _, m := range sample {
			if _, known := listedAsAccepted[m.key()]; !known && hasTwins(m.in) {
				s.mutants = append(s.mutants, m)
			}
		}
		if s.folder, err = os.MkdirTemp("", "mutate"); err != nil {
			return err
		}
		defer os.RemoveAll(s.folder)
		if err := s.compile(); err != nil {
			return err
		}
		for _, m := range found {
			if len(table) == 0 || table[len(table)-1].name != m.file {
				table = append(table, line{m.file, 0, row{}})
			}
			of := &table[len(table)-1]
			of.all++
			total.all++
			if !slices.Contains(sample, m) {
				continue
			}
			f := accepted
			if _, known := listedAsAccepted[m.key()]; !known {
				if f, err = s.try(m, asked); err != nil {
					return err
				}
			}
			if f == survived || f == idle || *verbose {
				fmt.Printf("%s: %v\n", f, m)
			}
			if _, isHeld := held[m.file]; isHeld && (f == survived || f == idle) {
				broken++
			}
			of.row[f]++
			total.row[f]++
		}
	}
	if *list {
		return nil
	}
	fmt.Printf("\n%-36s %8s %6s", "", "mutants", "asked")
	for _, f := range fates {
		fmt.Printf(" %s", f)
	}
	fmt.Println()
	for _, of := range append(table, total) {
		of.print(of.name, of.all)
	}
	fmt.Printf("in %v, %v of a processor\n", time.Since(began).Round(time.Second), spent().Round(time.Second))
	for key, met := range listedAsAccepted {
		file, _, _ := strings.Cut(key, "\n")
		if !met && slices.Contains(names, filepath.ToSlash(filepath.Dir(file))) {
			return fmt.Errorf("%s: there is no such mutant any more:\n%s", acceptedFile, key)
		}
	}
	if broken > 0 {
		return fmt.Errorf("%d of the survivors are in held files, and %s does not list them", broken, acceptedFile)
	}
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, ".ci/mutate:", err)
		os.Exit(1)
	}
}
