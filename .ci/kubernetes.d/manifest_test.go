// Package manifest reads the files for Kubernetes and AWS Batch in docs/ci as the types of their APIs have them.
package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
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
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

const folder = "../../docs/ci"

// strict decodes a manifest into the type of its kind, and refuses a field that the type lacks.
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
		if filepath.Ext(path) == ".yaml" && filepath.Base(path) != "kustomization.yaml" { // kustomize refuses those
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

// TestWhatAnExitCodeDoes: a finding (1) is not run again, wrong arguments (2) end the Job, and anything else counts. An
// eviction does not count.
func TestWhatAnExitCodeDoes(t *testing.T) {
	for _, test := range []struct {
		folder string
		code   int32 // 0 is an eviction
		want   batchv1.PodFailurePolicyAction
	}{
		{"", 0, batchv1.PodFailurePolicyActionIgnore}, {"", 1, batchv1.PodFailurePolicyActionFailIndex},
		{"", 2, batchv1.PodFailurePolicyActionFailJob}, {"", 3, batchv1.PodFailurePolicyActionCount},
		{"", 137, batchv1.PodFailurePolicyActionCount}, {"merge", 0, batchv1.PodFailurePolicyActionIgnore},
		{"merge", 1, batchv1.PodFailurePolicyActionFailJob}, {"merge", 2, batchv1.PodFailurePolicyActionFailJob},
		{"merge", 3, batchv1.PodFailurePolicyActionCount},
	} {
		job := built(t, test.folder)
		got := batchv1.PodFailurePolicyActionCount
		for _, rule := range slices.Backward(job.Spec.PodFailurePolicy.Rules) { // the first one that fits counts
			if test.code != 0 && rule.OnExitCodes != nil && slices.Contains(rule.OnExitCodes.Values, test.code) ||
				test.code == 0 && rule.OnPodConditions != nil &&
					rule.OnPodConditions[0].Type == corev1.DisruptionTarget {
				got = rule.Action
			}
			if on := rule.OnExitCodes; on != nil && *on.ContainerName != job.Spec.Template.Spec.Containers[0].Name {
				t.Errorf("%s: a rule is of the container %s", test.folder, *on.ContainerName)
			}
		}
		if got != test.want || *job.Spec.PodReplacementPolicy != batchv1.Failed {
			t.Errorf("%s: exit code %d leads to %s, expected %s", test.folder, test.code, got, test.want)
		}
	}
}

// TestKustomizations: values.env has the number of shards, and the component adds to the arguments.
func TestKustomizations(t *testing.T) {
	job := built(t, "")
	if s := job.Spec; *s.Completions != 3 || *s.Parallelism != 3 || *s.MaxFailedIndexes != 3 {
		t.Errorf("found %d, %d and %d, expected three times the 3 of values.env", *s.Completions, *s.Parallelism,
			*s.MaxFailedIndexes)
	}
	if args := job.Spec.Template.Spec.Containers[0].Args; !slices.Equal(args[:3],
		[]string{"explore", "--corpus=$(CORPUS)", "--corpus-new"}) {
		t.Errorf("found the arguments %q, expected those of the corpus", args)
	}
}

// built is the Job of a folder as kubectl apply -k makes it, with three shards and the component corpus.
func built(t *testing.T, of string) *batchv1.Job {
	t.Helper()
	disk, files := os.DirFS(filepath.Join(folder, "kubernetes")), filesys.MakeFsInMemory()
	if err := fs.WalkDir(disk, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(disk, path)
		text = bytes.Replace(text, []byte("SHARDS=8"), []byte("SHARDS=3"), 1)
		text = bytes.Replace(text, []byte("# components"), []byte("components"), 1)
		return errors.Join(err, files.WriteFile("/"+path, text))
	}); err != nil {
		t.Fatal(err)
	}
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, "/"+of)
	if err != nil {
		t.Fatal(err)
	}
	var job batchv1.Job
	for _, r := range resources.Resources() {
		if r.GetKind() != "Job" {
			continue
		}
		if err := yaml.UnmarshalStrict([]byte(r.MustYaml()), &job); err != nil {
			t.Fatal(err)
		}
	}
	return &job
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
