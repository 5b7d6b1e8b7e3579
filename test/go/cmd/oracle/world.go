package main

import (
	"context"
	"fmt"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/controllers/dynamicresources/deviceallocation"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	"sigs.k8s.io/karpenter/pkg/state/virtualpods"
	"sigs.k8s.io/karpenter/pkg/test"

	"karpenter-serverless/test/go/internal/scenario"
)

// world is a cluster that holds what the scenario says, as Karpenter's controllers see one.
type world struct {
	ctx         context.Context
	client      client.Client
	pods        *cache
	clock       *clocktesting.FakeClock
	cloud       cloud
	recorder    silent
	cluster     *state.Cluster
	provisioner *provisioning.Provisioner
}

type silent struct{}

func (silent) Publish(...events.Event) {}

func newWorld(ctx context.Context, from *scenario.Scenario) (*world, error) {
	w := &world{
		ctx:   options.ToContext(injection.WithControllerName(ctx, "provisioner"), test.Options()),
		clock: clocktesting.NewFakeClock(from.Now),
	}
	for _, t := range from.InstanceTypes {
		w.cloud.types = append(w.cloud.types, toKarpenter(t))
	}
	w.pods = newCache(newClient(from), from)
	w.client = w.pods
	w.cluster = state.NewCluster(w.clock, w.client, w.cloud)
	if err := w.fillCluster(from); err != nil {
		return nil, err
	}
	w.provisioner = provisioning.NewProvisioner(w.client, w.recorder, w.cloud, w.cluster, w.clock,
		deviceallocation.NewController(w.client), virtualpods.NewVirtualPodCache(w.client))
	return w, nil
}

// newClient holds all but nodes and pods, which the cache before it knows.
func newClient(from *scenario.Scenario) client.Client {
	var objects []client.Object
	objects = append(objects, copies(from.NodePools)...)
	objects = append(objects, copies(from.NodeClaims)...)
	objects = append(objects, copies(from.DaemonSets)...)
	objects = append(objects, copies(from.PodDisruptionBudgets)...)
	objects = append(objects, copies(from.PersistentVolumeClaims)...)
	objects = append(objects, copies(from.PersistentVolumes)...)
	objects = append(objects, copies(from.StorageClasses)...)
	objects = append(objects, copies(from.CSINodes)...)
	objects = append(objects, copies(from.Namespaces)...)
	for _, object := range objects {
		// A scenario that says nothing about a pool's health means a healthy one.
		if pool, ok := object.(*v1.NodePool); ok && len(pool.Status.Conditions) == 0 {
			pool.StatusConditions().SetTrue(v1.ConditionTypeValidationSucceeded)
			pool.StatusConditions().SetTrue(v1.ConditionTypeNodeClassReady)
		}
		// The fake client, like an API server, keeps no object that is being deleted and has no finalizer.
		if object.GetDeletionTimestamp() != nil && len(object.GetFinalizers()) == 0 {
			object.SetFinalizers([]string{v1.TerminationFinalizer})
		}
	}
	return fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(objects...).
		WithIndex(&v1.NodeClaim{}, "status.providerID", func(o client.Object) []string {
			return []string{o.(*v1.NodeClaim).Status.ProviderID}
		}).
		WithIndex(&storagev1.VolumeAttachment{}, "spec.nodeName", func(o client.Object) []string {
			return []string{o.(*storagev1.VolumeAttachment).Spec.NodeName}
		}).
		WithStatusSubresource(&v1.NodeClaim{}, &v1.NodePool{}).
		Build()
}

// copies gives each run its own objects: Karpenter relaxes pods in place.
func copies[T any, P interface {
	*T
	client.Object
}](items []T) []client.Object {
	objects := make([]client.Object, 0, len(items))
	for i := range items {
		objects = append(objects, P(&items[i]).DeepCopyObject().(client.Object))
	}
	return objects
}

// fillCluster updates the cluster state as its informers would.
func (w *world) fillCluster(from *scenario.Scenario) error {
	for i := range from.NodeClaims {
		w.cluster.UpdateNodeClaim(from.NodeClaims[i].DeepCopy())
	}
	for i := range from.Nodes {
		if err := w.cluster.UpdateNode(w.ctx, from.Nodes[i].DeepCopy()); err != nil {
			return fmt.Errorf("node %s: %w", from.Nodes[i].Name, err)
		}
	}
	for i := range from.Pods {
		if err := w.cluster.UpdatePod(w.ctx, from.Pods[i].DeepCopy()); err != nil {
			return fmt.Errorf("pod %s: %w", from.Pods[i].Name, err)
		}
	}
	for i := range from.DaemonSets {
		if err := w.cluster.UpdateDaemonSet(w.ctx, &from.DaemonSets[i]); err != nil {
			return fmt.Errorf("daemonset %s: %w", from.DaemonSets[i].Name, err)
		}
	}
	return nil
}
