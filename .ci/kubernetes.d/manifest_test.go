// Package manifest reads the files for Kubernetes and AWS Batch in docs/ci as the types of their APIs have them.
package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/batch"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

const folder = "../../docs/ci"

// strict decodes a manifest into the type of its kind, and refuses a field that the type has not.
func strict(text []byte) error {
	var kind struct{ APIVersion, Kind string }
	if err := yaml.Unmarshal(text, &kind); err != nil {
		return err
	}
	into, known := map[string]any{
		"batch/v1 Job": &batchv1.Job{}, "v1 PersistentVolumeClaim": &corev1.PersistentVolumeClaim{},
	}[kind.APIVersion+" "+kind.Kind]
	if !known {
		return fmt.Errorf("found the kind %s of %q, expected a Job or a claim", kind.Kind, kind.APIVersion)
	}
	return yaml.UnmarshalStrict(text, into)
}

// array decodes the job definition for AWS Batch. Its field names begin with a small letter, and those of the SDK's
// types with a capital one; a json.Decoder takes them for the same.
func array(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode(&batch.RegisterJobDefinitionInput{})
}

// TestManifests: each file fits, and does not when any field is misspelt.
func TestManifests(t *testing.T) {
	decoders := map[string]func([]byte) error{filepath.Join(folder, "batch.json"): array}
	if err := filepath.WalkDir(filepath.Join(folder, "kubernetes"), func(path string, _ fs.DirEntry, err error) error {
		// bash .ci/kubernetes builds it
		if filepath.Ext(path) == ".yaml" && filepath.Base(path) != "kustomization.yaml" {
			decoders[path] = strict
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if len(decoders) != 4 {
		t.Errorf("found %d files, want 4", len(decoders))
	}
	for _, path := range slices.Sorted(maps.Keys(decoders)) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := decoders[path](text); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		var whole map[string]any
		if err := yaml.Unmarshal(text, &whole); err != nil {
			t.Fatal(err)
		}
		misspelt := 0
		misspell(whole, "", func(field string) {
			misspelt++
			broken, err := json.Marshal(whole)
			if err == nil {
				err = decoders[path](broken)
			}
			if err == nil {
				t.Errorf("%s: %sx is not refused", path, field)
			}
		})
		if misspelt < 5 {
			t.Errorf("%s: %d fields were misspelt, want some", path, misspelt)
		}
	}
	if err := strict([]byte("kind: job\napiVersion: batch/v1")); err == nil {
		t.Error("a kind that is misspelt is not refused")
	}
}

// misspell gives each field below a value a wrong name, one after the other. Keys that a user chooses are no fields.
func misspell(value any, path string, try func(field string)) {
	switch value := value.(type) {
	case []any:
		for i, v := range value {
			misspell(v, fmt.Sprintf("%s[%d]", path, i), try)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			v := value[key]
			delete(value, key)
			value[key+"x"] = v
			try(path + "." + key)
			delete(value, key+"x")
			value[key] = v
			if !slices.Contains([]string{"requests", "limits", "parameters"}, key) {
				misspell(v, path+"."+key, try)
			}
		}
	}
}

// TestBatchScript: the script registers the definition, starts the array, merges though a shard has failed, and ends as
// the merge does.
func TestBatchScript(t *testing.T) {
	for merge, want := range map[string]bool{"SUCCEEDED": true, "FAILED": false} {
		bin := t.TempDir()
		if err := os.WriteFile(filepath.Join(bin, "aws"), []byte(`#!/bin/sh
echo "$2" "$4" >>"$0.log"
case "$*" in
*register*) echo definition ;;
*"submit-job --job-name isr-sim-merge"*) echo merge ;;
*submit-job*"--array-properties size=3"*) echo array ;;
*"--jobs array "*) echo FAILED ;;
*"--jobs merge "*) echo `+merge+` ;;
esac
`), 0o700); err != nil {
			t.Fatal(err)
		}
		script := exec.CommandContext(t.Context(), "bash", filepath.Join(folder, "batch.sh"), "queue", "3")
		script.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH")}
		output, err := script.CombinedOutput()
		if wantOutput := "campaign array: FAILED\nmerge merge: " + merge + "\n"; string(output) != wantOutput ||
			(err == nil) != want {
			t.Errorf("found %q and %v, expected %q", output, err, wantOutput)
		}
		log, err := os.ReadFile(filepath.Join(bin, "aws.log"))
		const wantLog = `register-job-definition file://batch.json
submit-job isr-sim
describe-jobs array
submit-job isr-sim-merge
describe-jobs merge
`
		if string(log) != wantLog {
			t.Errorf("found the calls %q (%v), expected %q", log, err, wantLog)
		}
	}
}
