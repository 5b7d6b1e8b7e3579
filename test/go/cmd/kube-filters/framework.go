package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// judging are the plugins that may refuse a node, in kube-scheduler's default order. Left out: gates and gangs (such
// pods are not planned for), resource claims (not decided here), declared features (they compare versions of kubelets).
var judging = []string{
	names.NodeUnschedulable, names.NodeName, names.TaintToleration, names.NodeAffinity, names.NodePorts, names.NodeResourcesFit,
	names.VolumeRestrictions, names.NodeVolumeLimits, names.VolumeBinding, names.VolumeZone, names.PodTopologySpread, names.InterPodAffinity,
}

// newFramework builds kube-scheduler's framework with its own filters over the objects of a scenario and the nodes of a
// cluster.
func newFramework(ctx context.Context, objects []runtime.Object, nodes *cluster) (framework.Framework, error) {
	defaults, err := latest.Default()
	if err != nil {
		return nil, err
	}
	profile := defaults.Profiles[0]
	var prefilter, filter config.PluginSet
	for _, name := range judging {
		filter.Enabled = append(filter.Enabled, config.Plugin{Name: name})
		if name != names.NodeUnschedulable && name != names.NodeName && name != names.TaintToleration {
			prefilter.Enabled = append(prefilter.Enabled, config.Plugin{Name: name})
		}
	}
	profile.Plugins = &config.Plugins{
		QueueSort: config.PluginSet{Enabled: []config.Plugin{{Name: names.PrioritySort}}},
		Bind:      config.PluginSet{Enabled: []config.Plugin{{Name: names.DefaultBinder}}},
		PreFilter: prefilter,
		Filter:    filter,
	}
	for _, plugin := range profile.PluginConfig {
		// The defaults only prefer, and would look for Services and ReplicaSets that a scenario does not have.
		if args, ok := plugin.Args.(*config.PodTopologySpreadArgs); ok {
			args.DefaultingType = config.ListDefaulting
			args.DefaultConstraints = nil
		}
	}
	factory := informersOver(objects)
	built, err := frameworkruntime.NewFramework(ctx, plugins.NewInTreeRegistry(), &profile,
		frameworkruntime.WithSnapshotSharedLister(nodes),
		frameworkruntime.WithInformerFactory(factory),
		frameworkruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(factory.Storage().V1().CSINodes().Lister())),
		frameworkruntime.WithParallelism(1),
	)
	if err != nil {
		return nil, err
	}
	factory.Start(ctx.Done())
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return nil, fmt.Errorf("the informer of %s did not read its objects", kind)
		}
	}
	return built, nil
}

// informersOver gives informers that list the objects and never hear of others: no client, no server.
func informersOver(objects []runtime.Object) informers.SharedInformerFactory {
	factory := informers.NewSharedInformerFactory(nil, 0)
	serve[*corev1.Pod](factory, &corev1.Pod{}, &corev1.PodList{}, objects)
	serve[*corev1.Node](factory, &corev1.Node{}, &corev1.NodeList{}, objects)
	serve[*corev1.Namespace](factory, &corev1.Namespace{}, &corev1.NamespaceList{}, objects)
	serve[*corev1.PersistentVolume](factory, &corev1.PersistentVolume{}, &corev1.PersistentVolumeList{}, objects)
	serve[*corev1.PersistentVolumeClaim](factory, &corev1.PersistentVolumeClaim{}, &corev1.PersistentVolumeClaimList{}, objects)
	serve[*storagev1.StorageClass](factory, &storagev1.StorageClass{}, &storagev1.StorageClassList{}, objects)
	serve[*storagev1.CSINode](factory, &storagev1.CSINode{}, &storagev1.CSINodeList{}, objects)
	serve[*storagev1.CSIDriver](factory, &storagev1.CSIDriver{}, &storagev1.CSIDriverList{}, objects)
	serve[*storagev1.CSIStorageCapacity](factory, &storagev1.CSIStorageCapacity{}, &storagev1.CSIStorageCapacityList{}, objects)
	serve[*storagev1.VolumeAttachment](factory, &storagev1.VolumeAttachment{}, &storagev1.VolumeAttachmentList{}, objects)
	return factory
}

// serve makes the factory's informer of one kind list those of the objects that are of it.
func serve[T runtime.Object](factory informers.SharedInformerFactory, kind T, empty runtime.Object, objects []runtime.Object) {
	source := fixed{&cache.ListWatch{
		ListFunc: func(metav1.ListOptions) (runtime.Object, error) {
			var own []runtime.Object
			for _, object := range objects {
				if _, ok := object.(T); ok {
					own = append(own, object)
				}
			}
			list := empty.DeepCopyObject()
			return list, meta.SetList(list, own)
		},
		WatchFunc: func(metav1.ListOptions) (watch.Interface, error) { return watch.NewFake(), nil },
	}}
	factory.InformerFor(kind, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
		return cache.NewSharedIndexInformer(source, kind, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	})
}

// fixed is a source that can only be listed.
type fixed struct{ *cache.ListWatch }

// IsWatchListSemanticsUnSupported keeps reflectors from streaming their first list.
func (fixed) IsWatchListSemanticsUnSupported() bool { return true }

// cluster is the machines with their pods as plugins read them: kube-scheduler's snapshot, changed in place.
type cluster struct {
	infos  []fwk.NodeInfo
	byName map[string]*framework.NodeInfo
}

func (c *cluster) NodeInfos() fwk.NodeInfoLister       { return c }
func (c *cluster) StorageInfos() fwk.StorageInfoLister { return c }
func (c *cluster) List() ([]fwk.NodeInfo, error)       { return c.infos, nil }

// Gangs are not judged.
func (c *cluster) PodGroups() fwk.PodGroupLister                             { return nil }
func (c *cluster) PodGroupStates() fwk.PodGroupStateLister                   { return nil }
func (c *cluster) CompositePodGroups() fwk.CompositePodGroupLister           { return nil }
func (c *cluster) CompositePodGroupStates() fwk.CompositePodGroupStateLister { return nil }

func (c *cluster) HavePodsWithAffinityList() ([]fwk.NodeInfo, error) {
	return c.having(func(info fwk.NodeInfo) bool { return len(info.GetPodsWithAffinity()) > 0 }), nil
}

func (c *cluster) HavePodsWithRequiredAntiAffinityList() ([]fwk.NodeInfo, error) {
	return c.having(func(info fwk.NodeInfo) bool { return len(info.GetPodsWithRequiredAntiAffinity()) > 0 }), nil
}

func (c *cluster) HavePodsWithRequiredNonHostScopedAntiAffinityList() ([]fwk.NodeInfo, error) {
	return c.having(func(info fwk.NodeInfo) bool { return len(info.GetPodsWithRequiredNonHostScopedAntiAffinity()) > 0 }), nil
}

func (c *cluster) having(is func(fwk.NodeInfo) bool) []fwk.NodeInfo {
	var some []fwk.NodeInfo
	for _, info := range c.infos {
		if is(info) {
			some = append(some, info)
		}
	}
	return some
}

func (c *cluster) Get(name string) (fwk.NodeInfo, error) {
	if info, ok := c.byName[name]; ok {
		return info, nil
	}
	return nil, fmt.Errorf("there is no node %s", name)
}

func (c *cluster) IsPVCUsedByPods(key string) bool {
	for _, info := range c.infos {
		if info.GetPVCRefCounts()[key] > 0 {
			return true
		}
	}
	return false
}

// refusal asks every filter whether a pod may go to a node now; the empty string is yes.
func refusal(ctx context.Context, judge framework.Framework, pod *corev1.Pod, info *framework.NodeInfo) string {
	state := framework.NewCycleState()
	result, status, _ := judge.RunPreFilterPlugins(ctx, state, pod)
	if !status.IsSuccess() {
		return status.Plugin() + ": " + status.Message()
	}
	if result != nil && !result.AllNodes() && !result.NodeNames.Has(info.Node().Name) {
		return "NodeAffinity: the pod names other nodes"
	}
	if status := judge.RunFilterPlugins(ctx, state, pod, info); !status.IsSuccess() {
		return status.Plugin() + ": " + status.Message()
	}
	return ""
}
