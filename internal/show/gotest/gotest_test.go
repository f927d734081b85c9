package gotest

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWrite(t *testing.T) {
	for name, test := range map[string]struct{ dir, file, text, want string }{
		"code":                {"a", "cache.go", "package store\n", "package store_test of ../shrunk.yaml"},
		"a test":              {"a", "cache_test.go", "package store_test\n", "package store_test of ../shrunk.yaml"},
		"no Go":               {"go-cache.d", "cache.go", "none", "package gocached_test of ../shrunk.yaml"},
		"a name that is none": {"1-2", "README.md", "", "package shrunk_test of ../shrunk.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			dir := filepath.Join(root, test.dir)
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, test.file), []byte(test.text), 0o644); err != nil {
				t.Fatal(err)
			}
			written := filepath.Join(dir, "shrunk_test.go")
			err := write(written, filepath.Join(root, "shrunk.yaml"), func(pkg, path string) ([]byte, error) {
				return []byte("package " + pkg + " of " + path), nil
			})
			got, readErr := os.ReadFile(written)
			if err != nil || readErr != nil || string(got) != test.want {
				t.Errorf("got %q, %v and %v, want %q", got, err, readErr, test.want)
			}
		})
	}
}
