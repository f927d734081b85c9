package differential

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Tally counts what sequences reach: operations, the parts of their expressions, and errors. Its methods may be called
// concurrently.
type Tally struct {
	mu         sync.Mutex
	sequences  int
	requests   int
	succeeded  int
	operations map[string][2]int // with success, and with an error
	words      map[string]int    // the words of expressions in requests that succeeded
	clauses    map[string]int    // the clauses of statements that succeeded
	parameters map[string]int    // legacy parameters, and their operators, in requests that succeeded
	errors     map[string]int    // the texts of errors, without the parts from the request
	faults     map[string]int    // mistakes made on purpose, and refused
}

// NewTally returns an empty tally.
func NewTally() *Tally {
	return &Tally{
		operations: map[string][2]int{}, words: map[string]int{}, clauses: map[string]int{},
		parameters: map[string]int{}, errors: map[string]int{},
		faults: map[string]int{},
	}
}

// Requests returns the number of counted requests.
func (c *Tally) Requests() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.requests
}

// words of expressions that a run must reach.
var words = []string{
	"attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains", "size", "if_not_exists",
	"list_append", "=", "<>", "<", "<=", ">", ">=", "+", "-", "AND", "OR", "NOT", "BETWEEN", "IN", "SET",
	"REMOVE", "ADD", "DELETE",
}

var wordsOfExpressions = regexp.MustCompile(
	`[a-z_]+\(|<=|>=|<>|[=<>+-]|\b(?:AND|OR|NOT|BETWEEN|IN|SET|REMOVE|ADD|DELETE)\b`,
)

func (c *Tally) sequence() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sequences++
}

// note counts a request with the answer of the fake.
func (c *Tally) note(r Request, a answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests++
	counts := c.operations[r.Operation]
	if a.failed() {
		counts[1]++
		c.errors[general(a.code+": "+a.message)]++
		if r.Breaks != "" {
			c.faults[r.Breaks]++
		}
	} else {
		counts[0]++
		c.succeeded++
		eachExpression(r.Body, func(text string) {
			for _, word := range wordsOfExpressions.FindAllString(text, -1) {
				c.words[strings.TrimSuffix(word, "(")]++
			}
		})
		c.statements(r, a)
		c.legacy(r)
	}
	c.operations[r.Operation] = counts
}

// clauses of statements that a run must reach, as patterns.
var clauses = func() (all []*regexp.Regexp) {
	for _, pattern := range []string{
		`^SELECT \*`, `^SELECT [^*]`, indexInStatement.String(), `^INSERT`, `^UPDATE`, `^FROM`, `^DELETE`, `^EXISTS`,
		` SET `, ` REMOVE `, `set_add\(`, `set_delete\(`, `list_append\(`, `RETURNING ALL OLD \*$`,
		`RETURNING ALL NEW \*$`, `RETURNING MODIFIED OLD \*$`, `RETURNING MODIFIED NEW \*$`, ` IS MISSING`, ` IS NULL`,
		` IN [\[(]`, ` BETWEEN `, ` (AND|and) `, ` OR `, `NOT `, `begins_with\(`, `contains\(`, `size\(`,
		`attribute_type\(`, ` ORDER BY `, `\?`, `'`, `[a-z]"?[.\[]["a-z0-9]`,
	} {
		all = append(all, regexp.MustCompile(pattern))
	}
	return all
}()

// statements counts the clauses of statements, and the errors of those in a batch.
func (c *Tally) statements(r Request, a answer) {
	responses, _ := a.body["Responses"].([]any)
	done := func(int) bool { return true }
	if r.Operation == "BatchExecuteStatement" {
		done = func(i int) bool {
			of, _ := responses[i].(object)
			outcome, _ := statementOutcome(of)
			if outcome != "ok" {
				c.errors[general(outcome)]++
				if r.Breaks != "" {
					c.faults[r.Breaks]++
				}
			}
			return outcome == "ok"
		}
	}
	for i, text := range statementsOf(r) {
		if !done(i) {
			continue
		}
		for _, clause := range clauses {
			if clause.MatchString(text) {
				c.clauses[clause.String()]++
			}
		}
	}
	if r.Operation == "ExecuteStatement" && r.Pages {
		c.clauses["Limit"]++
	}
}

func statementsOf(r Request) (all []string) {
	list, _ := r.Body[listOf[r.Operation]].([]any)
	for _, part := range append(list[:len(list):len(list)], r.Body) {
		of, _ := part.(object)
		if text, ok := of["Statement"].(string); ok {
			all = append(all, text)
		}
	}
	return all
}

// The operators and actions of legacy parameters.
var comparisons = []string{
	"EQ", "NE", "LE", "LT", "GE", "GT", "NOT_NULL", "NULL", "CONTAINS", "NOT_CONTAINS", "BEGINS_WITH", "IN",
	"BETWEEN", "PUT", "ADD", "DELETE",
}

// legacy counts legacy parameters, their operators and their actions.
func (c *Tally) legacy(r Request) {
	eachMember(r.Body, func(name string, value any) {
		if !slices.Contains(legacyParameters, name) {
			return
		}
		c.parameters[name]++
		all, _ := value.(object)
		for _, attribute := range sortedKeys(all) {
			of, _ := all[attribute].(object)
			for _, member := range []string{"ComparisonOperator", "Action"} {
				if text, ok := of[member].(string); ok {
					c.parameters[text]++
				}
			}
		}
	})
}

// eachExpression calls f with the expressions of a request.
func eachExpression(v any, f func(string)) {
	switch v := v.(type) {
	case object:
		for _, name := range sortedKeys(v) {
			if text, ok := v[name].(string); ok && strings.HasSuffix(name, "Expression") {
				f(text)
			}
			eachExpression(v[name], f)
		}
	case []any:
		for _, inner := range v {
			eachExpression(inner, f)
		}
	}
}

// After the first number of requests, a run must have reached every operation and function and most classes of errors.
// After the second, it must have reached every class.
const (
	enough = 5_000
	many   = 50_000
)

// Vacuous returns what a run of this length should have reached but has not: an operation, a function, a class of
// errors, success. A run of fewer than 5,000 requests need not reach anything.
func (c *Tally) Vacuous() (missing []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.requests < enough {
		return nil
	}
	times := c.requests / enough
	short := func(what string, got, floor int) {
		if got < floor {
			missing = append(missing, fmt.Sprintf("%s: %d, want at least %d", what, got, floor))
		}
	}
	short("requests that succeed", c.succeeded, c.requests*11/20)
	for _, o := range operations {
		short(o.value.name+" that succeeds", c.operations[o.value.name][0], 30*times)
		short(o.value.name+" that is refused", c.operations[o.value.name][1], 10*times)
	}
	for name := range strings.FieldsSeq(onTables + " " + onTTL + " " + onStreams) {
		short(name+" that succeeds", c.operations[name][0], 3*times)
		short(name+" that is refused", c.operations[name][1], times/4)
	}
	for _, word := range words {
		short(word+" in a request that succeeds", c.words[word], 3*times)
	}
	for _, clause := range clauses {
		short(clause.String()+" in a statement that succeeds", c.clauses[clause.String()], times)
	}
	for _, name := range slices.Concat(legacyParameters, comparisons) {
		short("legacy "+name+" in a request that succeeds", c.parameters[name], times)
	}
	short("statement with a Limit", c.clauses["Limit"], 3*times)
	short("texts of errors", len(c.errors), 200)
	short("faults", len(c.faults), len(allFaults)*9/10)
	if c.requests >= many {
		for _, f := range allFaults { // the rarest are drawn about eight times in 200,000 requests
			short("fault "+f.value.name, c.faults[f.value.name], times/20)
		}
	}
	return missing
}

// String prints the counts, for readers.
func (c *Tally) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "%d requests in %d sequences, %d %% of them successful\n", c.requests, c.sequences,
		100*c.succeeded/max(1, c.requests))
	for _, name := range sortedKeys(c.operations) {
		fmt.Fprintf(&b, "  %s %d ok, %d refused\n", name, c.operations[name][0], c.operations[name][1])
	}
	list := func(what string, counts map[string]int) {
		texts := make([]string, 0, len(counts))
		for _, name := range sortedKeys(counts) {
			texts = append(texts, fmt.Sprintf("%s %d", name, counts[name]))
		}
		fmt.Fprintf(&b, "  %s: %s\n", what, strings.Join(texts, ", "))
	}
	list("in expressions", c.words)
	list("in statements", c.clauses)
	list("legacy parameters", c.parameters)
	fmt.Fprintf(&b, "  errors: %d texts\n", len(c.errors))
	list("faults", c.faults)
	return b.String()
}
