// Package imports has the rules about imports, as data, and a function that checks them. Its test applies them to this
// module, so `go test ./...` fails if a rule is broken.
//
// There are two kinds of rule. Levels: a package imports only packages of this module on lower levels, so the arrows
// point one way and a reader can begin at the bottom. Bans: packages that a package must not import, even indirectly,
// each ban with its reason; for example, an import of ddbfake brings no Docker client.
package imports

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Graph is an import graph: for each package, the packages that it imports directly. Imports of test files do not
// count.
type Graph map[string][]string

// Rules are the import rules of one module.
type Rules struct {
	// Module is the path of the module, which starts the path of each of its packages.
	Module string
	// Levels lists the module's packages, lowest level first, by their path below the module.
	Levels [][]string
	// Bans are the other rules.
	Bans []Ban
}

// Ban keeps packages from importing others.
type Ban struct {
	// From names packages of the module, as patterns. Except names packages that From matches but that are not banned.
	From, Except []string
	// To names the packages that they must not import, as patterns.
	To []string
	// Directly means that only the packages' own imports count, not those of other packages in between.
	Directly bool
	// Reason ends the message about a broken rule.
	Reason string
}

// A pattern is the path of a package, or "path/..." for that package and all below it. In From and Except it is
// relative to the module, and "..." stands for all its packages. In To, a pattern that begins with "./" is relative to
// the module, and any other is a full path.
func matches(pattern, path string) bool {
	if pattern == "..." {
		return true
	}
	if tree, ok := strings.CutSuffix(pattern, "/..."); ok {
		return path == tree || strings.HasPrefix(path, tree+"/")
	}
	return path == pattern
}

func matchesAny(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return matches(pattern, path) })
}

// Check returns the broken rules, one sentence each, in a stable order.
func (r Rules) Check(graph Graph) []string {
	return append(r.checkLevels(graph), r.checkBans(graph)...)
}

func (r Rules) checkLevels(graph Graph) (broken []string) {
	level := map[string]int{}
	for i, packages := range r.Levels {
		for _, name := range packages {
			level[r.full(name)] = i + 1
			if _, ok := graph[r.full(name)]; !ok {
				broken = append(broken, fmt.Sprintf("%s has a level but does not exist: "+
					"a rule about nothing guards nothing", name))
			}
		}
	}
	for _, from := range slices.Sorted(maps.Keys(graph)) {
		if !matches(r.Module+"/...", from) {
			continue
		}
		if level[from] == 0 {
			broken = append(broken, fmt.Sprintf("%s has no level: add it to the table", r.short(from)))
			continue
		}
		for _, to := range graph[from] {
			if level[to] >= level[from] {
				broken = append(broken, fmt.Sprintf("%s (level %d) imports %s (level %d): imports point one way, "+
					"from a level to a lower one", r.short(from), level[from], r.short(to), level[to]))
			}
		}
	}
	return broken
}

func (r Rules) checkBans(graph Graph) (broken []string) {
	for _, ban := range r.Bans {
		to := make([]string, len(ban.To))
		for i, pattern := range ban.To {
			to[i] = pattern
			if below, ok := strings.CutPrefix(pattern, "./"); ok {
				to[i] = r.full(below)
			}
		}
		used := map[string]bool{} // patterns of the ban that name a package
		for _, from := range slices.Sorted(maps.Keys(graph)) {
			if !matches(r.Module+"/...", from) {
				continue
			}
			for _, pattern := range slices.Concat(ban.From, ban.Except) {
				used[pattern] = used[pattern] || matches(pattern, r.short(from))
			}
			if !matchesAny(ban.From, r.short(from)) || matchesAny(ban.Except, r.short(from)) {
				continue
			}
			if path := reach(graph, from, to, ban.Directly); path != nil {
				broken = append(broken, fmt.Sprintf("%s: %s", strings.Join(r.shorten(path), " imports "), ban.Reason))
			}
		}
		for _, pattern := range slices.Concat(ban.From, ban.Except) {
			if !used[pattern] {
				broken = append(broken, fmt.Sprintf("a ban names %s, which matches no package", pattern))
			}
		}
	}
	return broken
}

// reach returns the shortest chain of imports from a package to one that the patterns name, or nil.
func reach(graph Graph, from string, to []string, directly bool) []string {
	cameFrom := map[string]string{from: ""}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		for _, next := range graph[queue[0]] {
			if _, seen := cameFrom[next]; seen {
				continue
			}
			cameFrom[next] = queue[0]
			if matchesAny(to, next) {
				var path []string
				for at := next; at != ""; at = cameFrom[at] {
					path = append(path, at)
				}
				slices.Reverse(path)
				return path
			}
			if !directly {
				queue = append(queue, next)
			}
		}
	}
	return nil
}

func (r Rules) full(name string) string { return r.Module + "/" + name }

func (r Rules) short(path string) string {
	if path == r.Module {
		return "."
	}
	return strings.TrimPrefix(path, r.Module+"/")
}

func (r Rules) shorten(paths []string) []string {
	short := make([]string, len(paths))
	for i, path := range paths {
		short[i] = r.short(path)
	}
	return short
}
