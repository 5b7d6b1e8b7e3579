package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	restclient "k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

// Annotations that steer a fake kubelet.
const (
	fakeNode      = "kwok.x-k8s.io/node"         // on a Node, "fake": this program is its kubelet (KWOK's own mark)
	kubeletState  = "testcluster/kubelet"        // on a Node, "stopped": no more heartbeats, pods are left alone
	readyAfter    = "testcluster/ready-after"    // on a Node: a duration from its creation to Ready
	startAfter    = "testcluster/start-after"    // on a Pod: a duration from binding to Running
	completeAfter = "testcluster/complete-after" // on a Pod: a duration from Running to Succeeded
	stopAfter     = "testcluster/stop-after"     // on a Pod: a duration from its deletion to gone, its grace period at most
)

type fleetOptions struct {
	leaseEvery, readyDelay, startDelay, stopDelay time.Duration
	version                                       string
	workers                                       int
}

// A fleet is the kubelet of every fake node: each request bears the node's own token, so that the
// node authorizer, NodeRestriction and the audit log see system:node:NAME.
type fleet struct {
	fleetOptions
	client kubernetes.Interface
	nodes  listers.NodeLister
	pods   listers.PodLister
	queue  workqueue.TypedRateLimitingInterface[string]
	mu     sync.Mutex
	alive  map[string]context.CancelFunc
	ips    atomic.Uint32
}

type nodeKey struct{}

func asNode(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, nodeKey{}, name)
}

type nodeTransport struct {
	next   http.RoundTripper
	secret string
}

func (t nodeTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if name, ok := r.Context().Value(nodeKey{}).(string); ok {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer node."+name+"."+t.secret)
	}
	return t.next.RoundTrip(r)
}

// nodeClient is a client whose requests come from the node named in their context.
func nodeClient(admin *restclient.Config, secret, version string) (kubernetes.Interface, error) {
	c := restclient.AnonymousClientConfig(admin)
	c.ContentType = "application/json"
	c.QPS = -1
	c.UserAgent = "kubelet/" + version + " (linux/amd64) testcluster"
	c.Wrap(func(rt http.RoundTripper) http.RoundTripper { return nodeTransport{rt, secret} })
	return kubernetes.NewForConfig(c)
}

func runFleet(ctx context.Context, admin *restclient.Config, client kubernetes.Interface, o fleetOptions) error {
	watch := restclient.CopyConfig(admin)
	watch.ContentType = "application/vnd.kubernetes.protobuf"
	watch.QPS = -1
	watch.UserAgent = "testcluster-fleet"
	watcher, err := kubernetes.NewForConfig(watch)
	if err != nil {
		return err
	}
	strip := func(o any) (any, error) {
		if m, ok := o.(metav1.Object); ok {
			m.SetManagedFields(nil)
		}
		return o, nil
	}
	nodes := informers.NewSharedInformerFactoryWithOptions(watcher, 0, informers.WithTransform(strip))
	pods := informers.NewSharedInformerFactoryWithOptions(watcher, 0, informers.WithTransform(strip),
		informers.WithTweakListOptions(func(l *metav1.ListOptions) {
			l.FieldSelector = fields.OneTermNotEqualSelector("spec.nodeName", "").String()
		}))
	f := &fleet{fleetOptions: o, client: client, alive: map[string]context.CancelFunc{},
		nodes: nodes.Core().V1().Nodes().Lister(), pods: pods.Core().V1().Pods().Lister(),
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())}
	podInformer := pods.Core().V1().Pods().Informer()
	_ = podInformer.AddIndexers(cache.Indexers{"node": func(o any) ([]string, error) {
		return []string{o.(*corev1.Pod).Spec.NodeName}, nil
	}})
	enqueue := func(o any) {
		if key, err := cache.MetaNamespaceKeyFunc(o); err == nil {
			f.queue.Add(key)
		}
	}
	if _, err := nodes.Core().V1().Nodes().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { f.sync(ctx, o.(*corev1.Node), podInformer.GetIndexer(), enqueue) },
		UpdateFunc: func(_, o any) { f.sync(ctx, o.(*corev1.Node), podInformer.GetIndexer(), enqueue) },
		DeleteFunc: func(o any) {
			if d, ok := o.(cache.DeletedFinalStateUnknown); ok {
				o = d.Obj
			}
			f.stop(o.(*corev1.Node).Name)
		},
	}); err != nil {
		return err
	}
	if _, err := podInformer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: enqueue, UpdateFunc: func(_, o any) { enqueue(o) }}); err != nil {
		return err
	}
	nodes.Start(ctx.Done())
	nodes.WaitForCacheSync(ctx.Done())
	pods.Start(ctx.Done())
	for range f.workers {
		go func() {
			for {
				key, quit := f.queue.Get()
				if quit {
					return
				}
				if again, err := f.pod(ctx, key); err != nil && ctx.Err() == nil {
					klog.InfoS("fake kubelet", "pod", key, "err", err)
					f.queue.AddRateLimited(key)
				} else {
					f.queue.Forget(key)
					if again > 0 {
						f.queue.AddAfter(key, again)
					}
				}
				f.queue.Done(key)
			}
		}()
	}
	<-ctx.Done()
	f.queue.ShutDown()
	return nil
}

func (f *fleet) stop(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if cancel, ok := f.alive[name]; ok {
		cancel()
		delete(f.alive, name)
	}
}

func (f *fleet) runs(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.alive[name] != nil
}

// sync starts or stops the node's kubelet, as its annotations say.
func (f *fleet) sync(ctx context.Context, n *corev1.Node, pods cache.Indexer, enqueue func(any)) {
	if n.Annotations[fakeNode] == "" || n.Annotations[kubeletState] == "stopped" {
		f.stop(n.Name)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.alive[n.Name] != nil {
		return
	}
	ctx, f.alive[n.Name] = context.WithCancel(asNode(ctx, n.Name))
	go f.node(ctx, n.DeepCopy(), pods, enqueue)
}

func (f *fleet) node(ctx context.Context, n *corev1.Node, pods cache.Indexer, enqueue func(any)) {
	if !pause(ctx, time.Until(n.CreationTimestamp.Add(delay(n, readyAfter, f.readyDelay)))) {
		return
	}
	address := f.ip(10)
	for _, a := range n.Status.Addresses {
		if a.Type == corev1.NodeInternalIP {
			address = a.Address
		}
	}
	var lease *coordinationv1.Lease
	since := metav1.Now()
	reported := false
	for beat := 0; ; beat++ {
		if !reported || beat%max(1, int(5*time.Minute/f.leaseEvery)) == 0 {
			err := f.report(ctx, n, address, since)
			if reported = err == nil; !reported && ctx.Err() == nil {
				klog.InfoS("fake kubelet", "node", n.Name, "err", err)
			}
		}
		if beat == 0 { // pods bound before the kubelet came up
			bound, _ := pods.ByIndex("node", n.Name)
			for _, p := range bound {
				enqueue(p)
			}
		}
		lease = f.renew(ctx, n, lease)
		wait := f.leaseEvery
		if beat == 0 {
			wait = time.Duration(rand.Int64N(int64(wait))) // spread the nodes' heartbeats
		}
		if !reported { // a node is not Ready before, and a busy API server may refuse a status now and then
			wait = min(wait, time.Second)
		}
		if !pause(ctx, wait) {
			return
		}
	}
}

func (f *fleet) renew(ctx context.Context, n *corev1.Node, lease *coordinationv1.Lease) *coordinationv1.Lease {
	leases := f.client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	var err error
	if lease == nil {
		lease, err = leases.Create(ctx, &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: n.Name, Namespace: corev1.NamespaceNodeLease,
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: n.Name, UID: n.UID}}},
			Spec: coordinationv1.LeaseSpec{HolderIdentity: &n.Name, LeaseDurationSeconds: ptr.To[int32](40),
				RenewTime: &metav1.MicroTime{Time: time.Now()}},
		}, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			lease, err = leases.Get(ctx, n.Name, metav1.GetOptions{})
		}
	} else {
		lease.Spec.RenewTime = &metav1.MicroTime{Time: time.Now()}
		lease, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
	}
	if err != nil {
		if ctx.Err() == nil {
			klog.InfoS("fake kubelet", "lease", n.Name, "err", err)
		}
		return nil
	}
	return lease
}

// report patches the node's status as a kubelet does.
func (f *fleet) report(ctx context.Context, n *corev1.Node, address string, since metav1.Time) error {
	now := metav1.Now()
	condition := func(t corev1.NodeConditionType, s corev1.ConditionStatus, reason, message string) corev1.NodeCondition {
		return corev1.NodeCondition{Type: t, Status: s, LastHeartbeatTime: now, LastTransitionTime: since, Reason: reason, Message: message}
	}
	status := corev1.NodeStatus{
		Conditions: []corev1.NodeCondition{
			condition(corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
			condition(corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
			condition(corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
			condition(corev1.NodeReady, corev1.ConditionTrue, "KubeletReady", "kubelet is posting ready status"),
		},
		Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: address}, {Type: corev1.NodeHostName, Address: n.Name}},
		NodeInfo: corev1.NodeSystemInfo{KubeletVersion: f.version,
			OperatingSystem: label(n, corev1.LabelOSStable, "linux"), Architecture: label(n, corev1.LabelArchStable, "amd64"),
			OSImage: "testcluster", KernelVersion: "6.1.0", ContainerRuntimeVersion: "containerd://2.0.0",
			MachineID: n.Name, SystemUUID: n.Name, BootID: n.Name},
		Capacity: n.Status.Capacity, Allocatable: n.Status.Allocatable,
	}
	if len(status.Capacity) == 0 {
		status.Capacity = corev1.ResourceList{"cpu": resource.MustParse("4"), "memory": resource.MustParse("16Gi"),
			"pods": resource.MustParse("58"), "ephemeral-storage": resource.MustParse("20Gi")}
	}
	if len(status.Allocatable) == 0 {
		status.Allocatable = status.Capacity
	}
	patch, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return err
	}
	_, err = f.client.CoreV1().Nodes().Patch(ctx, n.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}

// pod takes one step with a bound pod; again is when to look next.
func (f *fleet) pod(ctx context.Context, key string) (again time.Duration, err error) {
	ns, name, _ := cache.SplitMetaNamespaceKey(key)
	p, err := f.pods.Pods(ns).Get(name)
	if err != nil || !f.runs(p.Spec.NodeName) {
		return 0, nil
	}
	ctx = asNode(ctx, p.Spec.NodeName)
	ended := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
	if p.DeletionTimestamp != nil {
		grace := time.Duration(ptr.Deref(p.DeletionGracePeriodSeconds, 0)) * time.Second
		if grace == 0 && len(p.Finalizers) > 0 {
			return 0, nil // gone as far as a kubelet goes: its finalizers hold it
		}
		left := time.Until(p.DeletionTimestamp.Add(min(grace, delay(p, stopAfter, f.stopDelay)) - grace))
		if left > 0 {
			return left, nil
		}
		if !ended {
			if err := f.patch(ctx, p, f.status(p, corev1.PodSucceeded)); err != nil {
				return 0, gone(err)
			}
		}
		return 0, gone(f.client.CoreV1().Pods(ns).Delete(ctx, name, metav1.DeleteOptions{
			GracePeriodSeconds: ptr.To[int64](0), Preconditions: &metav1.Preconditions{UID: &p.UID}}))
	}
	switch {
	case ended:
		return 0, nil
	case p.Status.Phase == corev1.PodRunning:
		after := delay(p, completeAfter, -1)
		if after < 0 || p.Status.StartTime == nil {
			return 0, nil
		}
		if left := time.Until(p.Status.StartTime.Add(after)); left > 0 {
			return left, nil
		}
		return 0, gone(f.patch(ctx, p, f.status(p, corev1.PodSucceeded)))
	default:
		bound := p.CreationTimestamp
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue {
				bound = c.LastTransitionTime
			}
		}
		if left := time.Until(bound.Add(delay(p, startAfter, f.startDelay))); left > 0 {
			return left, nil
		}
		return 0, gone(f.patch(ctx, p, f.status(p, corev1.PodRunning)))
	}
}

func (f *fleet) patch(ctx context.Context, p *corev1.Pod, status corev1.PodStatus) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": p.UID}, "status": status})
	if err != nil {
		return err
	}
	_, err = f.client.CoreV1().Pods(p.Namespace).Patch(ctx, p.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}

func (f *fleet) status(p *corev1.Pod, phase corev1.PodPhase) corev1.PodStatus {
	now := metav1.Now()
	up := phase == corev1.PodRunning
	s := corev1.PodStatus{Phase: phase, StartTime: p.Status.StartTime, PodIP: p.Status.PodIP, HostIP: p.Status.HostIP}
	if s.StartTime == nil {
		s.StartTime = &now
	}
	if s.PodIP == "" {
		s.PodIP = f.ip(11)
	}
	if s.HostIP == "" {
		if n, err := f.nodes.Get(p.Spec.NodeName); err == nil {
			for _, a := range n.Status.Addresses {
				if a.Type == corev1.NodeInternalIP {
					s.HostIP = a.Address
				}
			}
		}
	}
	if s.HostIP != "" {
		s.HostIPs = []corev1.HostIP{{IP: s.HostIP}}
	}
	s.PodIPs = []corev1.PodIP{{IP: s.PodIP}}
	ready, reason := corev1.ConditionTrue, ""
	if !up {
		ready, reason = corev1.ConditionFalse, "PodCompleted"
	}
	s.Conditions = []corev1.PodCondition{
		{Type: corev1.PodReadyToStartContainers, Status: ready, LastTransitionTime: now},
		{Type: corev1.PodInitialized, Status: corev1.ConditionTrue, LastTransitionTime: *s.StartTime, Reason: reason},
		{Type: corev1.PodReady, Status: ready, LastTransitionTime: now, Reason: reason},
		{Type: corev1.ContainersReady, Status: ready, LastTransitionTime: now, Reason: reason},
	}
	for _, c := range p.Spec.Containers {
		state := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: *s.StartTime}}
		if !up {
			state = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: *s.StartTime, FinishedAt: now}}
		}
		s.ContainerStatuses = append(s.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, ImageID: c.Image, State: state, Ready: up, Started: &up,
			ContainerID: fmt.Sprintf("containerd://%s/%s", p.UID, c.Name)})
	}
	return s
}

func (f *fleet) ip(first int) string {
	i := f.ips.Add(1)
	return fmt.Sprintf("%d.%d.%d.%d", first, i>>16&255, i>>8&255, i&255)
}

func gone(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

func delay(o metav1.Object, annotation string, otherwise time.Duration) time.Duration {
	if d, err := time.ParseDuration(o.GetAnnotations()[annotation]); err == nil {
		return d
	}
	return otherwise
}

func label(o metav1.Object, name, otherwise string) string {
	if v := o.GetLabels()[name]; v != "" {
		return v
	}
	return otherwise
}

func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
