package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"karpenter-serverless/test/go/internal/scenario"
)

// starting are taints that go by themselves once a machine has joined.
var starting = []corev1.Taint{
	{Key: "node.kubernetes.io/not-ready"},
	{Key: "node.kubernetes.io/unreachable"},
	{Key: "node.cloudprovider.kubernetes.io/uninitialized"},
	{Key: "karpenter.sh/unregistered"},
}

// existingMachines are the nodes and launched claims of a scenario as they will be when they have started: by the name
// that plans call them, with their Node. Machines that are being deleted are left out unless `leaving`.
func existingMachines(s *scenario.Scenario, leaving bool) map[string]*corev1.Node {
	machines := map[string]*corev1.Node{}
	claims := map[string]*v1.NodeClaim{}
	for i := range s.NodeClaims {
		if id := s.NodeClaims[i].Status.ProviderID; id != "" {
			claims[id] = &s.NodeClaims[i]
		}
	}
	for i := range s.Nodes {
		node := s.Nodes[i].DeepCopy()
		claim := claims[node.Spec.ProviderID]
		delete(claims, node.Spec.ProviderID)
		if (node.DeletionTimestamp != nil || claim != nil && claim.DeletionTimestamp != nil) && !leaving {
			continue
		}
		if claim != nil && node.Labels["karpenter.sh/initialized"] != "true" {
			node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(taint corev1.Taint) bool {
				same := func(other corev1.Taint) bool { return other.Key == taint.Key }
				return slices.ContainsFunc(starting, same) || slices.ContainsFunc(claim.Spec.StartupTaints, func(other corev1.Taint) bool { return other.MatchTaint(&taint) })
			})
			node.Status.Allocatable = filled(node.Status.Allocatable, claim.Status.Allocatable)
		}
		if node.Labels == nil {
			node.Labels = map[string]string{}
		}
		if _, ok := node.Labels[corev1.LabelHostname]; !ok {
			node.Labels[corev1.LabelHostname] = node.Name
		}
		machines[node.Name] = node
	}
	for _, claim := range claims {
		if claim.DeletionTimestamp != nil {
			continue
		}
		labels := map[string]string{corev1.LabelHostname: claim.Name}
		for key, value := range claim.Labels {
			labels[key] = value
		}
		machines[claim.Name] = &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: claim.Name, Labels: labels},
			Spec:       corev1.NodeSpec{Taints: claim.Spec.Taints},
			Status:     corev1.NodeStatus{Capacity: claim.Status.Capacity, Allocatable: claim.Status.Allocatable},
		}
	}
	return machines
}

// filled takes values that a node has not reported yet from its claim.
func filled(own, promised corev1.ResourceList) corev1.ResourceList {
	all := own.DeepCopy()
	for name, quantity := range promised {
		if known, ok := all[name]; !ok || known.IsZero() {
			if all == nil {
				all = corev1.ResourceList{}
			}
			all[name] = quantity
		}
	}
	return all
}

// A choice is one way in which a claim may be launched.
type choice struct {
	machine  *scenario.InstanceType
	offering scenario.Offering
}

// choices are the ways in which a claim may be launched, cheapest first.
func choices(s *scenario.Scenario, claim *scenario.PlannedClaim) []choice {
	var all []choice
	for _, name := range claim.InstanceTypes {
		for i := range s.InstanceTypes {
			if s.InstanceTypes[i].Name != name {
				continue
			}
			for _, bought := range s.InstanceTypes[i].Offerings {
				one := choice{&s.InstanceTypes[i], bought}
				if bought.Available && admits(claim.Requirements, one) {
					all = append(all, one)
				}
			}
		}
	}
	sort.SliceStable(all, func(a, b int) bool { return all[a].offering.Price < all[b].offering.Price })
	return all
}

// admits says whether a claim may be launched so: whatever the type or the offering decides must be allowed.
func admits(requirements []scenario.Requirement, one choice) bool {
	decided := map[string][]string{}
	for _, own := range one.machine.Requirements {
		decided[own.Key] = own.Values
	}
	decided[corev1.LabelTopologyZone] = []string{one.offering.Zone}
	decided["karpenter.sh/capacity-type"] = []string{one.offering.CapacityType}
	decided["karpenter.k8s.aws/capacity-reservation-id"] = nil
	if one.offering.ReservationID != "" {
		decided["karpenter.k8s.aws/capacity-reservation-id"] = []string{one.offering.ReservationID}
	}
	for _, asked := range requirements {
		values, ok := decided[asked.Key]
		if !ok {
			continue
		}
		if len(values) == 0 {
			if !allowsNone(asked) {
				return false
			}
		} else if !slices.ContainsFunc(values, func(value string) bool { return allows(asked, value) }) {
			return false
		}
	}
	return true
}

func allowsNone(r scenario.Requirement) bool {
	return r.Operator == "NotIn" || r.Operator == "DoesNotExist"
}

func allows(r scenario.Requirement, value string) bool {
	number, err := strconv.Atoi(value)
	bound := 0
	if len(r.Values) > 0 {
		bound, _ = strconv.Atoi(r.Values[0])
	}
	switch r.Operator {
	case "In":
		return slices.Contains(r.Values, value)
	case "NotIn":
		return !slices.Contains(r.Values, value)
	case "Exists":
		return true
	case "Gt":
		return err == nil && number > bound
	case "Gte":
		return err == nil && number >= bound
	case "Lt":
		return err == nil && number < bound
	case "Lte":
		return err == nil && number <= bound
	}
	return false
}

// plannedMachine is the node that a claim becomes when it is launched in one way. Where the claim leaves a label open,
// as Karpenter does when it draws one, `draw` decides.
func plannedMachine(s *scenario.Scenario, claim *scenario.PlannedClaim, name string, one choice, draw *rand.Rand) (*corev1.Node, error) {
	at := slices.IndexFunc(s.NodePools, func(pool v1.NodePool) bool { return pool.Name == claim.NodePool })
	if at < 0 {
		return nil, fmt.Errorf("%s is of a pool %s that is not there", name, claim.NodePool)
	}
	pool := s.NodePools[at]
	labels := map[string]string{}
	open := map[string][]scenario.Requirement{}
	for _, asked := range claim.Requirements {
		open[asked.Key] = append(open[asked.Key], asked)
	}
	for key, asked := range open {
		if value, ok := drawn(asked, draw); ok {
			labels[key] = value
		}
	}
	for _, own := range one.machine.Requirements {
		delete(labels, own.Key)
		allowed := slices.DeleteFunc(slices.Clone(own.Values), func(value string) bool {
			return slices.ContainsFunc(open[own.Key], func(asked scenario.Requirement) bool { return !allows(asked, value) })
		})
		if own.Operator == "In" && len(allowed) > 0 {
			labels[own.Key] = allowed[0]
		}
	}
	for key, value := range pool.Spec.Template.Labels {
		labels[key] = value
	}
	labels["karpenter.sh/nodepool"] = claim.NodePool
	labels["karpenter.sh/registered"] = "true"
	labels["karpenter.sh/initialized"] = "true"
	labels["karpenter.sh/capacity-type"] = one.offering.CapacityType
	labels[corev1.LabelTopologyZone] = one.offering.Zone
	labels[corev1.LabelHostname] = name
	if region := strings.TrimRight(one.offering.Zone, "abcdef"); region != one.offering.Zone && region != "" {
		labels[corev1.LabelTopologyRegion] = region
	}
	delete(labels, "karpenter.k8s.aws/capacity-reservation-id")
	if one.offering.ReservationID != "" {
		labels["karpenter.k8s.aws/capacity-reservation-id"] = one.offering.ReservationID
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec:       corev1.NodeSpec{Taints: pool.Spec.Template.Spec.Taints},
		Status:     corev1.NodeStatus{Capacity: one.machine.Capacity, Allocatable: allocatable(one.machine)},
	}, nil
}

// drawn is a value that all requirements of one key allow; none if the label may as well be missing.
func drawn(asked []scenario.Requirement, draw *rand.Rand) (string, bool) {
	var values []string
	for _, one := range asked {
		if one.Operator == "In" {
			values = append(values, one.Values...)
		}
	}
	if !slices.ContainsFunc(asked, func(one scenario.Requirement) bool { return !allowsNone(one) }) {
		return "", false
	}
	if len(values) == 0 {
		for number := range 1_000 {
			values = append(values, strconv.Itoa(number))
		}
		values = append(values, "any")
	}
	values = slices.DeleteFunc(values, func(value string) bool {
		return slices.ContainsFunc(asked, func(one scenario.Requirement) bool { return !allows(one, value) })
	})
	if len(values) == 0 {
		return "", false
	}
	slices.Sort(values)
	return values[draw.IntN(len(values))], true
}

// allocatable is capacity less what the machine keeps for itself.
func allocatable(machine *scenario.InstanceType) corev1.ResourceList {
	left := machine.Capacity.DeepCopy()
	for _, kept := range []corev1.ResourceList{machine.Overhead.KubeReserved, machine.Overhead.SystemReserved, machine.Overhead.EvictionThreshold} {
		for name, quantity := range kept {
			rest := left[name]
			rest.Sub(quantity)
			if rest.Sign() < 0 {
				rest = resource.Quantity{}
			}
			left[name] = rest
		}
	}
	return left
}

// aliases are labels that kubelets, the cloud's controller and the volume driver set beside those of today.
var aliases = map[string][]string{
	corev1.LabelTopologyZone:       {corev1.LabelFailureDomainBetaZone, "topology.ebs.csi.aws.com/zone"},
	corev1.LabelTopologyRegion:     {corev1.LabelFailureDomainBetaRegion},
	corev1.LabelInstanceTypeStable: {corev1.LabelInstanceType},
	corev1.LabelArchStable:         {"beta.kubernetes.io/arch"},
	corev1.LabelOSStable:           {"beta.kubernetes.io/os"},
}

func addAliases(labels map[string]string) {
	for key, olds := range aliases {
		for _, old := range olds {
			if value, ok := labels[key]; ok && labels[old] == "" {
				labels[old] = value
			}
		}
	}
}

// hasRoom says whether a pod fits beside those that are on a machine.
func hasRoom(pod *corev1.Pod, info *framework.NodeInfo) bool {
	for _, container := range pod.Spec.Containers {
		for _, port := range container.Ports {
			if info.UsedPorts.CheckConflict(port.HostIP, string(port.Protocol), port.HostPort) {
				return false
			}
		}
	}
	return len(noderesources.Fits(pod, info, nil, noderesources.ResourceRequestsOptions{EnablePodLevelResources: true})) == 0
}

// daemonPods are the pods that daemonsets would run on a node.
func daemonPods(s *scenario.Scenario, node *corev1.Node) []*corev1.Pod {
	var pods []*corev1.Pod
	for i := range s.DaemonSets {
		set := &s.DaemonSets[i]
		pod := &corev1.Pod{ObjectMeta: set.Spec.Template.ObjectMeta, Spec: *set.Spec.Template.Spec.DeepCopy()}
		pod.Namespace = set.Namespace
		pod.Name = set.Name + "-" + node.Name
		pod.UID = "daemon-of-" + node.UID + "-" + set.UID
		pod.OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Name: set.Name, UID: set.UID}}
		// The daemonset controller's own additions (a cordoned or starting node keeps its daemons).
		for _, key := range []string{"not-ready", "unreachable", "disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"} {
			pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{Key: "node.kubernetes.io/" + key, Operator: corev1.TolerationOpExists})
		}
		suits, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node)
		_, refused := corev1helpers.FindMatchingUntoleratedTaint(klog.Background(), node.Spec.Taints, pod.Spec.Tolerations, func(taint *corev1.Taint) bool {
			return taint.Effect != corev1.TaintEffectPreferNoSchedule
		}, true)
		if err == nil && suits && !refused {
			pod.Spec.NodeName = node.Name
			pods = append(pods, pod)
		}
	}
	return pods
}
