package conformance_test

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/rules/conformance"
	"github.com/isr-sim/isr-sim/internal/rules/conformance/differential"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

var fidelityFile = flag.String("fidelity.write", "",
	"TestFidelity writes what the fakes support, and how they differ from the services, to this file")

// TestFidelity makes the page about the fakes from the dispatch table, the cases and their deviations, the listed
// differences, and the comments in the sources. It fails if one of them lacks what the page needs. The page is not
// committed. To read it: go test ./internal/rules/conformance -run '^TestFidelity$' -fidelity.write /tmp/fidelity.md.
func TestFidelity(t *testing.T) {
	page := fidelity(t)
	if *fidelityFile == "" {
		return
	}
	if err := os.WriteFile(*fidelityFile, page, 0o644); err != nil { //nolint:gosec // a page is for everybody to read
		t.Fatal(err)
	}
}

func fidelity(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("# Fidelity\n\nHow far `ddbfake` is DynamoDB and `s3fake` is S3, and how that is known.\n\n")
	writeOperations(&b)
	writeCases(&b)
	writeOwn(t, &b, "ddbfake", "DynamoDB", unmendedDynamoDB)
	writeOwn(t, &b, "s3fake", "S3", unmendedS3)
	writeLocal(&b)
	writeDifferences(&b)
	return b.Bytes()
}

func writeOperations(b *bytes.Buffer) {
	supported := ddbfake.Operations()
	b.WriteString("## Operations\n\nSupported:\n\n")
	for _, name := range supported {
		fmt.Fprintf(b, "- `%s`\n", name)
	}
	var refused []string
	client := reflect.TypeFor[*dynamodb.Client]()
	for i := range client.NumMethod() {
		m := client.Method(i)
		if m.Type.NumIn() == 4 && strings.HasSuffix(m.Type.In(2).String(), m.Name+"Input") &&
			!slices.Contains(supported, m.Name) {
			refused = append(refused, "`"+m.Name+"`")
		}
	}
	fmt.Fprintf(b, "\nRefused with an `UnsupportedError`, which is an UnknownOperationException on the wire: %s.\n\n",
		strings.Join(refused, ", "))
}

func writeCases(b *bytes.Buffer) {
	count := map[string]int{}
	sources := map[string]int{}
	var topics []string
	for _, c := range conformance.Cases() {
		if count[c.Topic] == 0 {
			topics = append(topics, c.Topic)
		}
		count[c.Topic]++
		if c.Source == conformance.LocalOnly {
			sources[c.Topic]++
		}
	}
	fmt.Fprintf(b,
		"## Conformance\n\n"+
			"%d cases, which the fake passes through each of its doors. The last column counts those whose "+
			"rule is known\n"+
			"from DynamoDB Local alone; the others cite AWS's documentation or a suite that is run against the "+
			"service.\n\n"+
			"| topic | cases | from Local alone |\n|---|---|---|\n", len(conformance.Cases()))
	for _, topic := range topics {
		fmt.Fprintf(b, "| %s | %d | %d |\n", topic, count[topic], sources[topic])
	}
	b.WriteString("\n")
}

// writeOwn writes how a fake differs from its service: the text of its package documentation, the deviations in its
// sources, and the differences that must be fixed.
func writeOwn(t *testing.T, b *bytes.Buffer, folder, service string, open []unmended) {
	t.Helper()
	fmt.Fprintf(b, "## Where `%s` differs from %s\n\n", folder, service)
	for _, name := range []string{"Fidelity", "Limits"} {
		fmt.Fprintf(b, "### %s\n\n%s\n\n", name, section(t, "../../../"+folder+"/doc.go", name))
	}
	b.WriteString("### Deviations\n\n" +
		"Each row is a difference on purpose, or a case in which AWS does not say what the service does.\n\n" +
		"| where | deviation | source |\n|---|---|---|\n")
	found := 0
	row := func(where, text string, sources []string) {
		found++
		if len(sources) == 0 {
			t.Errorf("%s: a deviation without a source: %s", where, text)
		}
		for i, s := range sources {
			if !strings.HasPrefix(s, "https://") {
				t.Errorf("%s: the source of a deviation is no address: %q", where, s)
			}
			sources[i] = "<" + s + ">"
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", where, cell(text), strings.Join(sources, ", "))
	}
	for path, groups := range comments(t, "../../../"+folder) {
		for _, group := range groups {
			for text, sources := range deviations(group) {
				row("`"+strings.TrimPrefix(filepath.ToSlash(path), "../../../")+"`", text, sources)
			}
		}
	}
	if found == 0 {
		t.Fatalf("no source of %s names a deviation: they are looked for in the wrong folder", folder)
	}
	fmt.Fprintf(b, "\n### Not mended yet\n\n| what | %s | the fake | source |\n|---|---|---|---|\n", service)
	for _, u := range open {
		if u.what == "" || u.service == "" || u.fake == "" || !strings.HasPrefix(u.source, "https://") {
			t.Errorf("a difference that is to be mended lacks a member, or the address of its source: %+v", u)
		}
		fmt.Fprintf(b, "| %s | %s | %s | <%s> |\n", u.what, u.service, u.fake, u.source)
	}
	b.WriteString("\n")
}

// comments returns the comments of the Go files in a folder, in order.
func comments(t *testing.T, folder string) iter.Seq2[string, []string] {
	t.Helper()
	return func(yield func(string, []string) bool) {
		err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
			if err != nil {
				return err
			}
			var groups []string
			for _, group := range file.Comments {
				groups = append(groups, group.Text())
			}
			if !yield(path, groups) {
				return filepath.SkipAll
			}
			return nil
		})
		must.OK(t, err)
	}
}

var sourceLine = regexp.MustCompile(`(?m)^Source:\s+(\S+)`)

// deviations returns the deviations in a comment, each with its sources: those in its paragraph, or else all those in
// the comment.
func deviations(comment string) iter.Seq2[string, []string] {
	return func(yield func(string, []string) bool) {
		for _, paragraph := range strings.Split(comment, "\n\n") {
			text, ok := strings.CutPrefix(paragraph, "Deviation: ")
			if !ok {
				continue
			}
			text, own, _ := strings.Cut(text, "\nSource:")
			from := comment
			if own != "" {
				from = "Source:" + own
			}
			var sources []string
			for _, m := range sourceLine.FindAllStringSubmatch(from, -1) {
				sources = append(sources, m[1])
			}
			if !yield(text, sources) {
				return
			}
		}
	}
}

var (
	linkInComment = regexp.MustCompile(`\[([A-Z][\w.]*)\]`)
	deviation     = regexp.MustCompile(`(?s)\n\nDeviation: .*`)
)

// section returns a section of a package's documentation as Markdown. Deviations are left to the table.
func section(t *testing.T, path, name string) string {
	t.Helper()
	file := must.Of(parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments))(t)
	_, text, ok := strings.Cut(file.Doc.Text(), "\n# "+name+"\n\n")
	if !ok {
		t.Fatalf("%s has no section %s", path, name)
	}
	text, _, _ = strings.Cut(text, "\n\n# ")
	return strings.TrimSpace(linkInComment.ReplaceAllString(deviation.ReplaceAllString(text, ""), "`$1`"))
}

// writeLocal writes where DynamoDB Local fails a case, by reason.
func writeLocal(b *bytes.Buffer) {
	places := map[string][]string{}
	for _, c := range conformance.Cases() {
		for _, d := range c.Deviations() {
			if d.Store == conformance.Local {
				places[d.Reason] = append(places[d.Reason], fmt.Sprintf("%s/%s (%d)", c.Topic, c.Name, d.Step))
			}
		}
	}
	b.WriteString("## Where DynamoDB Local differs: conformance\n\n" +
		"Cases in which DynamoDB Local 3.3.1 answers otherwise, with the number of the step. The case has both\n" +
		"answers, and the source of the rule.\n\n| why we take DynamoDB Local to be wrong | steps | cases |\n" +
		"|---|---|---|\n")
	reasons := slices.SortedFunc(maps.Keys(places), func(x, y string) int {
		return cmp.Or(cmp.Compare(len(places[y]), len(places[x])), cmp.Compare(x, y))
	})
	for _, reason := range reasons {
		fmt.Fprintf(b, "| %s | %d | %s |\n", cell(reason), len(places[reason]),
			cell(strings.Join(places[reason], ", ")))
	}
	b.WriteString("\n")
}

func writeDifferences(b *bytes.Buffer) {
	b.WriteString("## Where DynamoDB Local differs: random sequences\n\n" +
		"`go test ./internal/rules/conformance -run Differential` passes over these differences and fails at any " +
		"other. The texts are patterns.\n\n" +
		"| operations | where | the fake | DynamoDB Local | why | source |\n|---|---|---|---|---|---|\n")
	for _, k := range differential.Local {
		operations := k.Operations
		if operations == "" {
			operations = "all"
		}
		where, fake, local := code(k.Path), code(k.Fake), code(k.Local)
		if k.Silent != nil {
			where, fake, local = "rows", "", ""
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | <%s> |\n", operations, where, fake, local, cell(k.Reason), k.Source)
	}
}

// cell makes a text one cell of a table.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}

func code(text string) string { return "`" + strings.ReplaceAll(text, "|", `\|`) + "`" }

// unmended is a known difference that nobody intends: the fake must be fixed.
type unmended struct{ what, service, fake, source string }

const (
	paritySuite = "https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/"
	alternator  = "https://github.com/scylladb/scylladb/blob/master/test/alternator/"
	reference   = "https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/"
	guide       = "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/"
)

var unmendedDynamoDB = []unmended{
	{
		"PutItem, UpdateItem and DeleteItem: a value of no type, an empty name of an attribute, wrong " +
			"AttributeUpdates, a ConditionalOperator out of place, values of an UpdateItem without an expression",
		"the text is not captured since 2026; those about other mistakes that need no table begin with `1 " +
			"validation error detected: `",
		"begins so, too", paritySuite + "tier3/error-messages/deleteItem.test.ts",
	},
	{
		"PutItem, UpdateItem and DeleteItem: a value of two types",
		"whether the text begins with `1 validation error detected: ` is not captured",
		"the text alone", paritySuite + "tier3/error-messages/deleteItem.test.ts",
	},
	{
		"a value of two types among the values of an expression",
		"the text begins with `ExpressionAttributeValues contains invalid value: `", "the text alone",
		"https://github.com/architect/dynalite/blob/main/test/query.js",
	},
	{
		"an unknown type in `attribute_type` of a statement",
		"the text lists the types in another order than the text about an expression", "one order",
		"https://github.com/floci-io/floci/blob/main/src/test/java/io/github/hectorvent/floci/services/dynamodb/DynamoDbPartiQLDocumentedSyntaxIntegrationTest.java",
	},
	{
		"a wrong ConditionalOperator", "a newer text, but beside values nested over about 62 levels or a missing key",
		"the older text", paritySuite + "tier3/validation-ordering/query.test.ts",
	},
	{
		"a wrong ReturnValues beside a value nested over about 62 levels", "the text of before 2026", "the newer one",
		paritySuite + "tier3/validation-ordering/deepRequests.test.ts",
	},
	{
		"UpdateItem near 400 KB",
		"in 22 of 33 regions the limit counts what the statement writes, with a cost by clause; in ten it " +
			"counts the item",
		"counts the item", paritySuite + "tier3/limits/itemSizeBySurface.test.ts",
	},
	{
		"the account in a table's ARN",
		"the twelve digits of the caller's account; that of another needs a policy there",
		"000000000000 in answers, and any other is accepted",
		guide + "rbac-intro.html",
	},
	{"a ShardFilter without Type or ShardId", "both are parts of its only documented use",
		"without a Type the children of the shard, without a ShardId no shards",
		reference + "API_streams_ShardFilter.html"},
	{
		"AT_TIMESTAMP without a Timestamp", "refused, in a text that is not documented",
		"refused, in a text of its own", reference + "API_streams_GetShardIterator.html",
	},
	{"exports and imports", "served", "refused; their lists are empty",
		reference + "API_ExportTableToPointInTime.html"},
	{"global tables with units", "there", "refused", guide + "V2globaltables_HowItWorks.html"},
}

var unmendedS3 = []unmended{
	{
		"signatures and the expiry of presigned requests", "checked", "not checked",
		"https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html",
	},
}
