package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/rules/effort"
)

// killedFile is the variable that makes TestKilledServer a server with this file.
const killedFile = "ISRSIM_TEST_KILLED_FILE"

// A server that is killed while it saves, and while it is written to, comes up with a state that was whole: it has all
// that was saved on demand, no transaction in part, and says what may be missing.
func TestKilled(t *testing.T) {
	file := filepath.Join(t.TempDir(), "db.json")
	sent, saved := 0, 0
	for round := range effort.Fewer(50, 8) {
		address, kill := startKilled(t, file, round > 0)
		if round == 0 {
			call(t, address, "CreateTable", `{"TableName":"cache","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],`+
				`"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],"BillingMode":"PAY_PER_REQUEST"}`)
			saveNow(t, address)
		} else {
			one, other := number(t, address, "one"), number(t, address, "other")
			if one != other || one < saved || one > sent {
				t.Fatalf("round %d: the rows of one transaction are %d and %d; %d was saved, and %d sent", round, one, other, saved, sent)
			}
		}
		for range 20 + 7*round%40 {
			sent++
			call(t, address, "TransactWriteItems", fmt.Sprintf(`{"TransactItems":[%s,%s,%s]}`, pairOf("one", sent), pairOf("other", sent), pairOf(fmt.Sprint(sent%500), sent)))
			if sent%17 == 0 {
				saveNow(t, address)
				saved = sent
			}
		}
		kill()
	}
}

// pairOf is an action that puts a row of two kilobytes.
func pairOf(key string, n int) string {
	return fmt.Sprintf(`{"Put":{"TableName":"cache","Item":{"pk":{"S":"%s"},"n":{"N":"%d"},"body":{"S":"%s"}}}}`, key, n, strings.Repeat("x", 2000))
}

// number is what a row says; 0 if it is not there.
func number(t *testing.T, address, key string) int {
	t.Helper()
	response, err := http.DefaultClient.Do(asked(address, "GetItem", fmt.Sprintf(`{"TableName":"cache","Key":{"pk":{"S":"%s"}}}`, key)))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var got struct {
		Item struct{ N struct{ N string } }
	}
	if err := json.NewDecoder(response.Body).Decode(&got); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("got %s, %v", response.Status, err)
	}
	n, _ := strconv.Atoi(got.Item.N.N)
	return n
}

func saveNow(t *testing.T, address string) {
	t.Helper()
	response, err := http.Post("http://"+address+"/_isr-sim/save", "application/json", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("save: got %s", response.Status)
	}
}

// startKilled starts this test program as a server with a file, and returns what kills it. A server that finds the file
// must say as of when it is, and that what was written later is missing.
func startKilled(t *testing.T, file string, found bool) (address string, kill func()) {
	t.Helper()
	server := exec.Command(os.Args[0], "-test.run", "^TestKilledServer$")
	server.Env = append(os.Environ(), killedFile+"="+file)
	var told bytes.Buffer
	server.Stderr = &told
	stdout, err := server.StdoutPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	over := false
	kill = func() {
		if over {
			return
		}
		over = true
		_ = server.Process.Kill()
		_ = server.Wait() // it was killed
		if says := strings.Contains(told.String(), "; what was written later is missing\n"); says != found {
			t.Errorf("it says what may be missing: %t, want %t: %s", says, found, told.String())
		}
	}
	t.Cleanup(kill)
	var printed struct{ Endpoint string }
	if err := json.NewDecoder(stdout).Decode(&printed); err != nil {
		_ = server.Wait()
		over = true
		t.Fatalf("%v; it says: %s", err, told.String())
	}
	return strings.TrimPrefix(printed.Endpoint, "http://"), kill
}

// TestKilledServer is the process that startKilled starts: a server that saves all the time.
func TestKilledServer(t *testing.T) {
	file := os.Getenv(killedFile)
	if file == "" {
		t.Skip("TestKilled runs it")
	}
	s, err := New(t.Context(), Settings{Listen: "127.0.0.1:0", Clock: "wall", Data: file, DataEvery: time.Millisecond, Log: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	line, err := s.Line()
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("%s\n", line)
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
}
