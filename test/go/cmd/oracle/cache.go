package main

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"karpenter-serverless/test/go/internal/scenario"
)

// cache answers reads of pods and nodes from indexes, as the informers of a real controller do. The fake client behind
// it goes through every object, by way of JSON, for each read: with thousands of nodes that, and not Karpenter, would
// be measured.
type cache struct {
	client.Client
	pods   map[client.ObjectKey]*corev1.Pod
	byNode map[string]map[client.ObjectKey]*corev1.Pod
	nodes  map[string]*corev1.Node
}

func newCache(behind client.Client, from *scenario.Scenario) *cache {
	c := &cache{
		Client: behind,
		pods:   map[client.ObjectKey]*corev1.Pod{},
		byNode: map[string]map[client.ObjectKey]*corev1.Pod{},
		nodes:  map[string]*corev1.Node{},
	}
	for i := range from.Pods {
		c.putPod(from.Pods[i].DeepCopy())
	}
	for i := range from.Nodes {
		c.nodes[from.Nodes[i].Name] = from.Nodes[i].DeepCopy()
	}
	return c
}

func (c *cache) putPod(pod *corev1.Pod) {
	key := client.ObjectKeyFromObject(pod)
	c.dropPod(key)
	c.pods[key] = pod
	if c.byNode[pod.Spec.NodeName] == nil {
		c.byNode[pod.Spec.NodeName] = map[client.ObjectKey]*corev1.Pod{}
	}
	c.byNode[pod.Spec.NodeName][key] = pod
}

func (c *cache) dropPod(key client.ObjectKey) {
	if pod, ok := c.pods[key]; ok {
		delete(c.byNode[pod.Spec.NodeName], key)
		delete(c.pods, key)
	}
}

func (c *cache) Get(ctx context.Context, key client.ObjectKey, object client.Object, opts ...client.GetOption) error {
	switch found := object.(type) {
	case *corev1.Pod:
		if pod, ok := c.pods[key]; ok {
			pod.DeepCopyInto(found)
			return nil
		}
		return errors.NewNotFound(corev1.Resource("pods"), key.Name)
	case *corev1.Node:
		if node, ok := c.nodes[key.Name]; ok {
			node.DeepCopyInto(found)
			return nil
		}
		return errors.NewNotFound(corev1.Resource("nodes"), key.Name)
	case *corev1.PersistentVolume, *storagev1.StorageClass, *storagev1.CSINode:
		// Karpenter asks for these under the pod's namespace. An informer ignores it; the fake client finds nothing.
		key.Namespace = ""
		return c.Client.Get(ctx, key, object, opts...)
	default:
		return c.Client.Get(ctx, key, object, opts...)
	}
}

func (c *cache) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	wanted := &client.ListOptions{}
	wanted.ApplyOptions(opts)
	switch found := list.(type) {
	case *corev1.PodList:
		found.Items = c.podsLike(wanted)
		return nil
	case *corev1.NodeList:
		found.Items = c.nodesLike(wanted)
		return nil
	default:
		return c.Client.List(ctx, list, opts...)
	}
}

func (c *cache) podsLike(wanted *client.ListOptions) []corev1.Pod {
	from := c.pods
	if wanted.FieldSelector != nil {
		if node, ok := wanted.FieldSelector.RequiresExactMatch("spec.nodeName"); ok {
			from = c.byNode[node]
		}
	}
	items := make([]corev1.Pod, 0, len(from))
	for key, pod := range from {
		if (wanted.Namespace == "" || wanted.Namespace == key.Namespace) && matches(wanted.LabelSelector, pod.Labels) {
			items = append(items, *pod.DeepCopy())
		}
	}
	// An informer's order is as good as none; one that is always the same lets runs be compared.
	slices.SortFunc(items, func(a, b corev1.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return items
}

func (c *cache) nodesLike(wanted *client.ListOptions) []corev1.Node {
	items := []corev1.Node{}
	for _, node := range c.nodes {
		if wanted.FieldSelector != nil {
			if id, ok := wanted.FieldSelector.RequiresExactMatch("spec.providerID"); ok && id != node.Spec.ProviderID {
				continue
			}
		}
		if matches(wanted.LabelSelector, node.Labels) {
			items = append(items, *node.DeepCopy())
		}
	}
	slices.SortFunc(items, func(a, b corev1.Node) int { return cmp.Compare(a.Name, b.Name) })
	return items
}

func matches(selector labels.Selector, of map[string]string) bool {
	return selector == nil || selector.Matches(labels.Set(of))
}
