// Command campaign runs the manifests of docs/ci/kubernetes under a control plane, and checks that the Job does what
// they promise: a shard with a finding (its exit code is 1) fails its index and is not run again; one that ended
// without a verdict (3) is run again and counted; one whose pod was evicted is run again and not counted. Then it runs
// the merge step. bash .ci/kubernetes starts it:
//
//	campaign URL ROOT MANIFESTS FINDS
//
// ROOT is the folder that containers have as their root, MANIFESTS has the folders campaign, corpus and merge, and
// FINDS is the index of the shard that has a finding.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

const nodeName = "one"

// The indices that are disturbed. They must not be the one that has a finding.
const (
	interrupted = "2"
	evicted     = "5"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	err := run(ctx, os.Args[1], os.Args[2], os.Args[3], os.Args[4])
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "kubernetes:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, url, root, manifests, finds string) error {
	client, err := kubernetes.NewForConfig(&rest.Config{
		Host: url, BearerToken: "campaign", TLSClientConfig: rest.TLSClientConfig{Insecure: true}, QPS: 200, Burst: 400,
	})
	if err != nil {
		return err
	}
	if err := until(ctx, "the control plane is ready", func() (bool, error) {
		_, err := client.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
		return err == nil, nil
	}); err != nil {
		return err
	}
	if err := machine(ctx, client, root); err != nil {
		return fmt.Errorf("the node: %w", err)
	}
	k := &kubelet{client: client, root: root, runs: map[types.UID]*process{}}
	broken := make(chan error, 1)
	go func() { broken <- k.work(ctx) }()
	defer func() {
		select {
		case err := <-broken:
			fmt.Fprintln(os.Stderr, "kubelet:", err)
		default:
		}
	}()

	// it only has to be valid
	if err := apply(ctx, client, filepath.Join(manifests, "corpus"), metav1.DryRunAll); err != nil {
		return err
	}
	if err := apply(ctx, client, filepath.Join(manifests, "campaign")); err != nil {
		return err
	}
	began := time.Now()
	for _, index := range []string{interrupted, evicted} {
		if err := until(ctx, "index "+index+" runs", func() (bool, error) {
			return k.find(index) != nil,
				nil
		}); err != nil {
			return err
		}
	}
	time.Sleep(300 * time.Millisecond) // isr-sim listens to signals by then
	if err := k.find(interrupted)[0].signal(syscall.SIGTERM); err != nil {
		return err
	}
	pods, err := client.CoreV1().Pods(namespace).List(ctx,
		metav1.ListOptions{LabelSelector: "batch.kubernetes.io/job-completion-index=" + evicted})
	if err != nil {
		return err
	}
	if err := client.CoreV1().Pods(namespace).
		EvictV1(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pods.Items[0].Name}}); err != nil {
		return err
	}
	job, err := ended(ctx, client, "isr-sim")
	if err != nil {
		return err
	}
	fmt.Printf("kubernetes: the Job has ended after %.0f s: completedIndexes %s, failedIndexes %s, succeeded %d, "+
		"failed %d, %s\n", time.Since(began).Seconds(),
		job.Status.CompletedIndexes, *job.Status.FailedIndexes, job.Status.Succeeded, job.Status.Failed, reasons(job))
	var wrong []error
	for i := range int(*job.Spec.Completions) {
		index, want := fmt.Sprint(i), []int{0}
		switch index {
		case finds:
			want = []int{1}
		case interrupted:
			want = []int{3, 0}
		case evicted:
			want = []int{137, 0}
		}
		var got []int
		for _, p := range k.find(index) {
			got = append(got, p.code)
		}
		if !slices.Equal(got, want) {
			wrong = append(wrong, fmt.Errorf("index %s ended with %v, expected %v", index, got, want))
		}
	}
	if got := *job.Status.FailedIndexes; got != finds {
		wrong = append(wrong, fmt.Errorf("the failed indices are %s, expected %s", got, finds))
	}
	if job.Status.Succeeded != 7 || job.Status.Failed != 2 { // the eviction does not count
		wrong = append(wrong,
			fmt.Errorf("%d pods succeeded and %d failed, expected 7 and 2", job.Status.Succeeded, job.Status.Failed))
	}
	if got := reasons(job); !strings.Contains(got, "Failed: FailedIndexes") {
		wrong = append(wrong, fmt.Errorf("the Job is %s, expected Failed: FailedIndexes", got))
	}

	if err := apply(ctx, client, filepath.Join(manifests, "merge")); err != nil {
		return err
	}
	merge, err := ended(ctx, client, "isr-sim-merge")
	if err != nil {
		return err
	}
	fmt.Printf("kubernetes: the merge step is %s\n", reasons(merge))
	if got := reasons(merge); !strings.Contains(got, "Failed: PodFailurePolicy") || merge.Status.Failed != 1 {
		wrong = append(wrong, fmt.Errorf(
			"the merge step is %s after %d failures, expected Failed: PodFailurePolicy after 1, for there "+
				"is a finding", got, merge.Status.Failed,
		))
	}

	// Wrong arguments end the whole Job at once.
	mistaken := job.DeepCopy()
	mistaken.ObjectMeta = metav1.ObjectMeta{Name: "mistaken"}
	mistaken.Status, mistaken.Spec.Selector, mistaken.Spec.Template.Labels = batchv1.JobStatus{}, nil, nil
	mistaken.Spec.Template.Spec.Containers[0].Args = []string{"explore", "--nosuch"}
	if _, err := client.BatchV1().Jobs(namespace).Create(ctx, mistaken, metav1.CreateOptions{}); err != nil {
		return err
	}
	if mistaken, err = ended(ctx, client, "mistaken"); err != nil {
		return err
	}
	fmt.Printf("kubernetes: a Job with a wrong argument is %s\n", reasons(mistaken))
	if got := reasons(mistaken); !strings.Contains(got, "Failed: PodFailurePolicy") {
		wrong = append(wrong, fmt.Errorf("a Job with a wrong argument is %s, expected Failed: PodFailurePolicy", got))
	}
	return errors.Join(wrong...)
}

// machine makes the node that the kubelet plays, and a volume for the claim.
func machine(ctx context.Context, client *kubernetes.Clientset, root string) error {
	node, err := client.CoreV1().Nodes().Create(ctx,
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	node.Status.Capacity = corev1.ResourceList{
		"cpu": resource.MustParse("16"), "memory": resource.MustParse("32Gi"), "pods": resource.MustParse("64"),
	}
	node.Status.Allocatable = node.Status.Capacity
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	if node, err = client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{}); err != nil {
		return err
	}
	node.Spec.Taints = nil // a new node has some
	if _, err = client.CoreV1().Nodes().Update(ctx, node, metav1.UpdateOptions{}); err != nil {
		return err
	}
	_, err = client.CoreV1().PersistentVolumes().Create(ctx, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "results"},
		Spec: corev1.PersistentVolumeSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}, Capacity: corev1.ResourceList{
				"storage": resource.MustParse("1Gi"),
			},
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				HostPath: &corev1.HostPathVolumeSource{Path: root + "/results"},
			},
		},
	}, metav1.CreateOptions{})
	return err
}

// apply builds a folder as kubectl apply -k does, and creates what is in it. The server refuses unknown fields.
func apply(ctx context.Context, client *kubernetes.Clientset, folder string, dryRun ...string) error {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		return err
	}
	strict := metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict, DryRun: dryRun}
	for _, r := range built.Resources() {
		text, err := r.AsYAML()
		if err != nil {
			return err
		}
		switch r.GetKind() {
		case "ConfigMap":
			var v corev1.ConfigMap
			if err = yaml.UnmarshalStrict(text, &v); err == nil {
				_, err = client.CoreV1().ConfigMaps(namespace).Create(ctx, &v, strict)
			}
		case "PersistentVolumeClaim":
			var v corev1.PersistentVolumeClaim
			if err = yaml.UnmarshalStrict(text, &v); err == nil {
				_, err = client.CoreV1().PersistentVolumeClaims(namespace).Create(ctx, &v, strict)
			}
		case "Job":
			var v batchv1.Job
			if err = yaml.UnmarshalStrict(text, &v); err == nil {
				_, err = client.BatchV1().Jobs(namespace).Create(ctx, &v, strict)
			}
		default:
			err = errors.New("found another kind, expected a ConfigMap, a PersistentVolumeClaim or a Job")
		}
		if err != nil {
			return fmt.Errorf("%s: %s %s: %w", folder, r.GetKind(), r.GetName(), err)
		}
	}
	return nil
}

// ended waits for the end of a Job.
func ended(ctx context.Context, client *kubernetes.Clientset, name string) (job *batchv1.Job, err error) {
	return job, until(ctx, "Job "+name+" has ended", func() (bool, error) {
		job, err = client.BatchV1().Jobs(namespace).Get(ctx, name, metav1.GetOptions{})
		return err == nil && slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
			return c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed)
		}), err
	})
}

// reasons are the conditions of a Job.
func reasons(job *batchv1.Job) string {
	var all []string
	for _, c := range job.Status.Conditions {
		all = append(all, fmt.Sprintf("%s: %s", c.Type, c.Reason))
	}
	return strings.Join(all, ", ")
}

func until(ctx context.Context, what string, is func() (bool, error)) error {
	for {
		done, err := is()
		if done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not in time: %s", what)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
