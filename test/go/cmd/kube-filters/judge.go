package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"karpenter-serverless/test/go/internal/scenario"
)

// A violation is a pod that kube-scheduler would not bind to the machine that the plan means it for, in any order that
// was tried.
type violation struct {
	Launch string `json:"launch"`
	Pod    string `json:"pod"`
	Node   string `json:"node"`
	Type   string `json:"type,omitempty"`
	Reason string `json:"reason"`
}

// launches are the ways in which all claims of a plan are imagined to be launched.
var launches = []string{"cheapest", "dearest", "drawn-1", "drawn-2"}

// A judged plan can be played again and again on machines of different types.
type judged struct {
	scenario  *scenario.Scenario
	plan      *scenario.Plan
	pods      map[string]*corev1.Pod
	target    map[string]string
	objects   []runtime.Object
	sharedPVC map[string]bool
}

func newJudged(s *scenario.Scenario, p *scenario.Plan) *judged {
	j := &judged{scenario: s, plan: p, pods: map[string]*corev1.Pod{}, target: map[string]string{}, sharedPVC: map[string]bool{}}
	users := map[string]int{}
	for i := range s.Pods {
		pod := &s.Pods[i]
		if pod.Namespace == "" {
			pod.Namespace = metav1.NamespaceDefault
		}
		if pod.UID == "" {
			pod.UID = types.UID(keyOf(pod))
		}
		mergeLabelKeys(pod)
		j.pods[keyOf(pod)] = pod
		for _, claim := range claimsOf(pod) {
			users[claim]++
		}
	}
	for _, place := range p.ExistingNodes {
		for _, name := range place.Pods {
			j.target[name] = place.Name
		}
	}
	for i, claim := range p.NewNodeClaims {
		for _, name := range claim.Pods {
			j.target[name] = claimName(i)
		}
	}
	for i := range s.PersistentVolumeClaims {
		claim := &s.PersistentVolumeClaims[i]
		if claim.Namespace == "" {
			claim.Namespace = metav1.NamespaceDefault
		}
		j.objects = append(j.objects, claim)
		if name := claim.Namespace + "/" + claim.Name; claim.Spec.VolumeName == "" && users[name] > 1 {
			j.sharedPVC[name] = true
		}
	}
	for i := range s.PersistentVolumes {
		j.objects = append(j.objects, &s.PersistentVolumes[i])
	}
	for i := range s.StorageClasses {
		j.objects = append(j.objects, &s.StorageClasses[i])
	}
	for i := range s.CSINodes {
		j.objects = append(j.objects, &s.CSINodes[i])
	}
	for i := range s.Namespaces {
		j.objects = append(j.objects, &s.Namespaces[i])
	}
	return j
}

func keyOf(pod *corev1.Pod) string {
	namespace := pod.Namespace
	if namespace == "" {
		namespace = "default"
	}
	return namespace + "/" + pod.Name
}

func claimName(i int) string { return fmt.Sprintf("claim-%d", i) }

// claimsOf names the volume claims of a pod, "namespace/name".
func claimsOf(pod *corev1.Pod) []string {
	var names []string
	for _, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim != nil {
			names = append(names, pod.Namespace+"/"+volume.PersistentVolumeClaim.ClaimName)
		} else if volume.Ephemeral != nil {
			names = append(names, pod.Namespace+"/"+pod.Name+"-"+volume.Name)
		}
	}
	return names
}

// mergeLabelKeys does what the API server does to pod (anti-)affinity at creation: matchLabelKeys and mismatchLabelKeys
// become part of the selector. (Those of spread constraints are read by the plugin.)
func mergeLabelKeys(pod *corev1.Pod) {
	if pod.Spec.Affinity == nil {
		return
	}
	var terms []*corev1.PodAffinityTerm
	if with := pod.Spec.Affinity.PodAffinity; with != nil {
		for i := range with.RequiredDuringSchedulingIgnoredDuringExecution {
			terms = append(terms, &with.RequiredDuringSchedulingIgnoredDuringExecution[i])
		}
	}
	if apart := pod.Spec.Affinity.PodAntiAffinity; apart != nil {
		for i := range apart.RequiredDuringSchedulingIgnoredDuringExecution {
			terms = append(terms, &apart.RequiredDuringSchedulingIgnoredDuringExecution[i])
		}
	}
	for _, term := range terms {
		if term.LabelSelector == nil {
			continue
		}
		add := func(key string, operator metav1.LabelSelectorOperator) {
			if value, ok := pod.Labels[key]; ok {
				term.LabelSelector.MatchExpressions = append(term.LabelSelector.MatchExpressions,
					metav1.LabelSelectorRequirement{Key: key, Operator: operator, Values: []string{value}})
			}
		}
		for _, key := range term.MatchLabelKeys {
			add(key, metav1.LabelSelectorOpIn)
		}
		for _, key := range term.MismatchLabelKeys {
			add(key, metav1.LabelSelectorOpNotIn)
		}
	}
}

// judge plays the plan with every way of launching it and returns what kube-scheduler would refuse.
func (j *judged) judge(ctx context.Context) ([]violation, error) {
	violations := []violation{}
	for _, launch := range launches {
		found, err := j.withLaunch(ctx, launch)
		if err != nil {
			return nil, err
		}
		violations = append(violations, found...)
	}
	return violations, nil
}

// withLaunch tries worlds and orders until one works. Machines that are being deleted are still there at first and gone
// in the end: a plan is right when it works in one of the two.
func (j *judged) withLaunch(ctx context.Context, launch string) ([]violation, error) {
	var least []violation
	for _, leaving := range []bool{true, false} {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		nodes := &cluster{}
		judging, err := newFramework(ctx, j.objects, nodes)
		if err != nil {
			return nil, err
		}
		for order := range orders {
			found, err := j.play(ctx, judging, nodes, launch, leaving, order)
			if err != nil || len(found) == 0 {
				return nil, err
			}
			if least == nil || len(found) < len(least) {
				least = found
			}
		}
	}
	return least, nil
}

// play places all pods of the plan in one order, again and again those that are left, until nothing moves.
func (j *judged) play(ctx context.Context, judging framework.Framework, nodes *cluster, launch string, leaving bool, order int) ([]violation, error) {
	names, bought, err := j.lay(nodes, launch, leaving)
	if err != nil {
		return nil, err
	}
	left := j.queue(names, order)
	levels, bias := levelsOf(left, nodes), biases(left, order)
	zones := map[string]string{}
	reasons := map[string]string{}
	// place binds a pod if every filter agrees.
	place := func(pod *corev1.Pod) bool {
		info, ok := nodes.byName[j.target[keyOf(pod)]]
		if !ok {
			reasons[keyOf(pod)] = "there is no such node"
			return false
		}
		reason := j.elsewhere(pod, info, zones)
		if reason == "" {
			reason = refusal(ctx, judging, pod, info)
		}
		if reason != "" {
			reasons[keyOf(pod)] = reason
			return false
		}
		placed := pod.DeepCopy()
		placed.Spec.NodeName = info.Node().Name
		info.AddPod(placed)
		for _, claim := range claimsOf(pod) {
			if j.sharedPVC[claim] {
				zones[claim] = info.Node().Labels[corev1.LabelTopologyZone]
			}
		}
		levels.add(pod, info.Node())
		return true
	}
	for moved := true; moved && len(left) > 0; {
		moved = false
		if order > lastTurn && order <= lastLevel {
			levels.sort(left, func(pod *corev1.Pod) *framework.NodeInfo { return nodes.byName[j.target[keyOf(pod)]] }, bias)
		}
		// Always from the front again: who waited is asked first.
		if at := slices.IndexFunc(left, place); at >= 0 {
			left = slices.Delete(left, at, at+1)
			moved = true
		}
	}
	var violations []violation
	for _, pod := range left {
		name := keyOf(pod)
		violations = append(violations, violation{Launch: launch, Pod: name, Node: j.target[name], Type: bought[j.target[name]], Reason: reasons[name]})
	}
	sort.Slice(violations, func(a, b int) bool { return violations[a].Pod < violations[b].Pod })
	return violations, nil
}

// elsewhere says that a volume which pods share has been made in another zone by one that came before.
func (j *judged) elsewhere(pod *corev1.Pod, info *framework.NodeInfo, zones map[string]string) string {
	for _, claim := range claimsOf(pod) {
		if zone, ok := zones[claim]; ok && zone != info.Node().Labels[corev1.LabelTopologyZone] {
			return "VolumeZone: " + claim + " has been made in " + zone
		}
	}
	return ""
}

// lay puts the machines up with the pods that are there before any of the plan. Gives the pods to place and the type of
// each claim.
func (j *judged) lay(nodes *cluster, launch string, leaving bool) ([]string, map[string]string, error) {
	draw := rand.New(rand.NewPCG(1, uint64(slices.Index(launches, launch))))
	nodes.infos, nodes.byName = nil, map[string]*framework.NodeInfo{}
	add := func(node *corev1.Node) *framework.NodeInfo {
		addAliases(node.Labels)
		info := framework.NewNodeInfo()
		info.SetNode(node)
		nodes.byName[node.Name] = info
		nodes.infos = append(nodes.infos, info)
		return info
	}
	existing := existingMachines(j.scenario, leaving)
	for _, name := range sortedKeys(existing) {
		add(existing[name])
	}
	hasDaemon := map[string]bool{}
	for i := range j.scenario.Pods {
		pod := &j.scenario.Pods[i]
		info, there := nodes.byName[pod.Spec.NodeName]
		_, moves := j.target[keyOf(pod)]
		if !there || moves || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		info.AddPod(pod)
		for _, owner := range pod.OwnerReferences {
			if owner.Kind == "DaemonSet" {
				hasDaemon[owner.Name+" "+pod.Spec.NodeName] = true
			}
		}
	}
	for _, name := range sortedKeys(existing) {
		for _, pod := range daemonPods(j.scenario, existing[name]) {
			// A daemon that has no room on a running node does not come while the pods there stay.
			info := nodes.byName[name]
			if !hasDaemon[pod.OwnerReferences[0].Name+" "+name] && hasRoom(pod, info) {
				info.AddPod(pod)
			}
		}
	}
	bought := map[string]string{}
	for i := range j.plan.NewNodeClaims {
		claim := &j.plan.NewNodeClaims[i]
		ways := choices(j.scenario, claim)
		if len(ways) == 0 {
			return nil, nil, fmt.Errorf("%s cannot be launched at all", claimName(i))
		}
		way := ways[0]
		switch launch {
		case "cheapest":
		case "dearest":
			way = ways[len(ways)-1]
		default:
			way = ways[draw.IntN(len(ways))]
		}
		node, err := plannedMachine(j.scenario, claim, claimName(i), way, draw)
		if err != nil {
			return nil, nil, err
		}
		info := add(node)
		bought[node.Name] = fmt.Sprintf("%s %s %s", way.machine.Name, way.offering.Zone, way.offering.CapacityType)
		for _, pod := range daemonPods(j.scenario, node) {
			info.AddPod(pod)
		}
	}
	return sortedKeys(j.target), bought, nil
}

func sortedKeys[V any](all map[string]V) []string {
	keys := make([]string, 0, len(all))
	for key := range all {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
