package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"
	"k8s.io/kubernetes/pkg/fieldpath"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"
)

const namespace = "default"

// kubelet runs the container of each pod of its node as a process, in a folder that is the process's root, under the
// user that the pod names. The root belongs to root, so such a process can write into the volumes alone.
type kubelet struct {
	client *kubernetes.Clientset
	root   string // has the image's files; all pods share it, with one claim

	sync.Mutex

	runs map[types.UID]*process
}

// process is the run of a pod.
type process struct {
	index  string // of the Job; "" for a pod that has none
	number int    // in the order of starts
	code   int    // -1 until it has ended
	gone   bool   // nothing is left to be done for its pod
	signal func(os.Signal) error
}

// work takes up pods of the node, and those that are to end, until the context ends.
func (k *kubelet) work(ctx context.Context) error {
	for ctx.Err() == nil {
		pods, err := k.client.CoreV1().Pods(namespace).List(ctx,
			metav1.ListOptions{FieldSelector: "spec.nodeName=" + nodeName})
		if err != nil {
			return err
		}
		for i := range pods.Items {
			pod := &pods.Items[i]
			k.Lock()
			p := k.runs[pod.UID]
			if p != nil {
				now := *p
				p = &now
			}
			k.Unlock()
			switch {
			case p == nil && pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodPending:
				if err := k.start(ctx, pod); err != nil {
					return fmt.Errorf("pod %s: %w", pod.Name, err)
				}
			case pod.DeletionTimestamp == nil || p != nil && p.gone:
			case p != nil && p.code < 0:
				_ = p.signal(syscall.SIGKILL) // without a grace, as if the node had died; it may have ended
			default:
				if err := k.remove(ctx, pod, p); err != nil {
					return fmt.Errorf("pod %s: %w", pod.Name, err)
				}
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	return nil
}

// start starts the container of a pod, and reports how it ends.
func (k *kubelet) start(ctx context.Context, pod *corev1.Pod) error {
	container := &pod.Spec.Containers[0]
	env, err := k.environment(ctx, pod, container)
	if err != nil {
		return err
	}
	expand := expansion.MappingFuncFor(env)
	arguments := append([]string{}, container.Command...)
	if len(arguments) == 0 {
		arguments = []string{"/isr-sim"} // the entry point of the image
	}
	for _, argument := range container.Args {
		arguments = append(arguments, expansion.Expand(argument, expand))
	}
	user := pod.Spec.SecurityContext
	for _, mount := range container.VolumeMounts {
		volume := filepath.Join(k.root, mount.MountPath)
		if err := errors.Join(os.MkdirAll(volume, 0o775), os.Chown(volume, 0, int(*user.FSGroup)),
			os.Chmod(volume, 0o775)); err != nil {
			return err
		}
	}
	command := exec.Cmd{Path: arguments[0], Args: arguments, Dir: "/", Env: []string{"GOMAXPROCS=1"}}
	for name, value := range env {
		command.Env = append(command.Env, name+"="+value)
	}
	command.SysProcAttr = &syscall.SysProcAttr{
		Chroot:     k.root,
		Credential: &syscall.Credential{Uid: uint32(*user.RunAsUser), Gid: uint32(*user.RunAsGroup)},
		Pdeathsig:  syscall.SIGKILL,
	}
	log, err := os.Create(filepath.Join(filepath.Dir(k.root), pod.Name+".log"))
	if err != nil {
		return err
	}
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		return err
	}
	k.Lock()
	p := &process{index: pod.Labels[batchv1.JobCompletionIndexAnnotation], number: len(k.runs), code: -1,
		signal: command.Process.Signal}
	k.runs[pod.UID] = p
	k.Unlock()
	if err := k.report(ctx, pod, corev1.PodRunning,
		corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}); err != nil {
		return err
	}
	go func() {
		defer log.Close()
		_ = command.Wait() // the code says it
		status := command.ProcessState.Sys().(syscall.WaitStatus)
		code, phase := status.ExitStatus(), corev1.PodFailed
		if status.Signaled() {
			code = 128 + int(status.Signal())
		}
		if code == 0 {
			phase = corev1.PodSucceeded
		}
		err := k.report(ctx, pod, phase, corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: int32(code), FinishedAt: metav1.Now()},
		})
		if err != nil && ctx.Err() == nil {
			fmt.Fprintf(os.Stderr, "kubelet: pod %s: %v\n", pod.Name, err)
		}
		k.Lock()
		p.code = code
		k.Unlock()
	}()
	return nil
}

// environment is the environment of a container: that of its maps, and then its own.
func (k *kubelet) environment(
	ctx context.Context, pod *corev1.Pod, container *corev1.Container,
) (map[string]string, error) {
	env := map[string]string{}
	for _, from := range container.EnvFrom {
		values, err := k.client.CoreV1().ConfigMaps(namespace).Get(ctx, from.ConfigMapRef.Name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		for name, value := range values.Data {
			env[name] = value
		}
	}
	for _, v := range container.Env {
		env[v.Name] = v.Value
		if v.ValueFrom == nil {
			continue
		}
		value, err := fieldpath.ExtractFieldPathAsString(pod, v.ValueFrom.FieldRef.FieldPath)
		if err != nil {
			return nil, err
		}
		env[v.Name] = value
	}
	return env, nil
}

// report writes the status of a pod.
func (k *kubelet) report(
	ctx context.Context, pod *corev1.Pod, phase corev1.PodPhase, state corev1.ContainerState,
) error {
	pods := k.client.CoreV1().Pods(namespace)
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		now, err := pods.Get(ctx, pod.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		now.Status.Phase = phase
		now.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: pod.Spec.Containers[0].Name,
			Image: pod.Spec.Containers[0].Image, State: state}}
		_, err = pods.UpdateStatus(ctx, now, metav1.UpdateOptions{})
		return err
	})
}

// remove lets a pod go whose process has ended, or was never started.
func (k *kubelet) remove(ctx context.Context, pod *corev1.Pod, p *process) error {
	if p == nil {
		if err := k.report(ctx, pod, corev1.PodFailed, corev1.ContainerState{}); err != nil {
			return err
		}
		p = &process{number: -1}
	}
	p.gone = true
	k.Lock()
	k.runs[pod.UID] = p
	k.Unlock()
	err := k.client.CoreV1().Pods(namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// find lists the processes of an index, in the order of their starts.
func (k *kubelet) find(index string) (all []process) {
	k.Lock()
	defer k.Unlock()
	for _, p := range k.runs {
		if p.index == index {
			all = append(all, *p)
		}
	}
	slices.SortFunc(all, func(a, b process) int { return a.number - b.number })
	return all
}
