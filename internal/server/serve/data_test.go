package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/base/mistake"
)

// withData is a server that was started with a file.
func withData(t *testing.T, file string, log *bytes.Buffer) *Server {
	t.Helper()
	s, err := New(t.Context(), Settings{Listen: "127.0.0.1:0", Clock: "wall", Data: file, DataEvery: time.Hour, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ran starts and stops a server.
func ran(t *testing.T, s *Server) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := s.Run(ctx); err != nil {
		t.Fatal(err)
	}
}

func create(t *testing.T, db *ddbfake.DB) {
	t.Helper()
	_, err := db.As("alice").CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("cache"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Tables and rows are there again after a stop, and what was said of the file is true.
func TestData(t *testing.T) {
	file := filepath.Join(t.TempDir(), "db.json")
	var log bytes.Buffer
	s := withData(t, file, &log)
	if want := "there is no " + file + " yet"; !strings.Contains(log.String(), want) {
		t.Errorf("got %q, want %s", log.String(), want)
	}
	create(t, s.options.DB)
	if err := s.options.DB.Put("cache", attr.Item{"pk": attr.S("a")}); err != nil {
		t.Fatal(err)
	}
	ran(t, s)
	draft := filepath.Join(filepath.Dir(file), ".db.json.1.tmp")
	if err := os.WriteFile(draft, []byte(`{"tables": [`), 0o600); err != nil { // a server was killed while it saved
		t.Fatal(err)
	}
	log.Reset()
	s = withData(t, file, &log)
	if rows := s.options.DB.Items("cache"); len(rows) != 1 || !strings.Contains(log.String(), "tables: 1, rows: 1, as of ") {
		t.Errorf("got %v, and %q", rows, log.String())
	}
	if _, err := os.Stat(draft); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the draft is there: %v", err)
	}
	// Nothing has changed: the file stays as it is.
	before, _ := os.Stat(file)
	if name, err := s.data.save(); err != nil || name != file {
		t.Errorf("got %s and %v", name, err)
	}
	if after, _ := os.Stat(file); !os.SameFile(before, after) {
		t.Error("the file was written anew, and nothing had changed")
	}
	s.Close()
}

// A damaged file is refused with its place, and stays as it is.
func TestDataDamaged(t *testing.T) {
	for text, want := range map[string]string{
		"": "", // an empty file has nothing in it
		"{\"tables\": [\n{\"name\": \"cache\", \"items\": [": "line 2: found no JSON",
		"\n{\"a\": 1}": "line 2: found an object",
		`{"tables": [{"region": "us-east-1", "name": "cache", "items": [{"pk": {"S": "a"}}]}]}`: "line 1: table cache: ",
	} {
		file := filepath.Join(t.TempDir(), "db.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := New(t.Context(), Settings{Listen: "127.0.0.1:0", Clock: "wall", Data: file, DataEvery: time.Hour, Log: new(bytes.Buffer)})
		if s != nil {
			s.Close()
		}
		if want == "" && err == nil {
			continue
		}
		if m := (*mistake.Error)(nil); !errors.As(err, &m) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
		if kept, _ := os.ReadFile(file); string(kept) != text {
			t.Errorf("the file is now %q", kept)
		}
	}
}

// Whenever somebody looks, the file is whole: while rows are written, and while it is saved.
func TestDataIsWhole(t *testing.T) {
	file := filepath.Join(t.TempDir(), "db.json")
	s := withData(t, file, new(bytes.Buffer))
	create(t, s.options.DB)
	if _, err := s.data.save(); err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	done := make(chan struct{})
	work.Go(func() {
		defer close(done)
		for i := range 300 {
			if err := s.options.DB.Put("cache", attr.Item{"pk": attr.S(fmt.Sprint(i)), "body": attr.S(strings.Repeat("x", 1000))}); err != nil {
				t.Error(err)
			}
			if i%10 == 0 {
				if _, err := s.data.save(); err != nil {
					t.Error(err)
				}
			}
		}
	})
	last := 0
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		db := ddbfake.New(ddbfake.Options{})
		if err := db.Load("", bytes.NewReader(text)); err != nil {
			t.Fatalf("half a file: %v", err)
		}
		if n := len(db.Items("cache")); n < last {
			t.Fatalf("got %d rows, and %d before", n, last)
		} else {
			last = n
		}
	}
	work.Wait()
	s.Close()
}
