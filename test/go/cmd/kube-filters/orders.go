package main

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"sort"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// Orders in which pods are tried. Filters look at what is there already, so a plan may work in one order and not in
// another.
const (
	polite    = iota          // those that mind others first
	lastTurn  = polite + 16   // kinds of pods in a random order
	lastLevel = lastTurn + 24 // of those that may be placed always one that fills the lowest domain; all but the first a little at random
	orders    = lastLevel + 8 // all at random
)

// queue gives the pods of the plan, bare of their nodes, in one of several orders. See the orders'
// names.
func (j *judged) queue(names []string, order int) []*corev1.Pod {
	var pods []*corev1.Pod
	kinds := map[string][]*corev1.Pod{}
	for _, name := range names {
		pod, ok := j.pods[name]
		if !ok {
			pod = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}
		}
		pod = pod.DeepCopy()
		pod.Spec.NodeName = ""
		pods = append(pods, pod)
		kind := kindOf(pod)
		kinds[kind] = append(kinds[kind], pod)
	}
	draw := rand.New(rand.NewPCG(2, uint64(order)))
	if order > lastLevel {
		draw.Shuffle(len(pods), func(a, b int) { pods[a], pods[b] = pods[b], pods[a] })
		return pods
	}
	keys := sortedKeys(kinds)
	draw.Shuffle(len(keys), func(a, b int) { keys[a], keys[b] = keys[b], keys[a] })
	if order == polite || order > lastTurn {
		keys = politely(keys, kinds)
	}
	pods = pods[:0]
	for _, key := range keys {
		pods = append(pods, kinds[key]...)
	}
	return pods
}

// levels count, for each hard spread of the pods to place, how many pods lie in each domain.
type levels struct {
	spreads []*corev1.TopologySpreadConstraint
	owners  []*corev1.Pod
	counts  []map[string]int
}

func levelsOf(pods []*corev1.Pod, nodes *cluster) *levels {
	l := &levels{}
	known := map[string]bool{}
	for _, pod := range pods {
		for i := range pod.Spec.TopologySpreadConstraints {
			spread := &pod.Spec.TopologySpreadConstraints[i]
			text := pod.Namespace + " " + spread.String()
			if spread.WhenUnsatisfiable == corev1.DoNotSchedule && !known[text] {
				known[text] = true
				l.spreads, l.owners, l.counts = append(l.spreads, spread), append(l.owners, pod), append(l.counts, map[string]int{})
			}
		}
	}
	for _, info := range nodes.infos {
		for i, spread := range l.spreads {
			if domain, ok := info.Node().Labels[spread.TopologyKey]; ok {
				l.counts[i][domain] += 0
			}
		}
		for _, there := range info.GetPods() {
			l.add(there.GetPod(), info.Node())
		}
	}
	return l
}

// biases make an order of levels differ from the others: every pod is held to stand a little higher than it does.
func biases(pods []*corev1.Pod, order int) map[*corev1.Pod]int {
	bias := map[*corev1.Pod]int{}
	draw := rand.New(rand.NewPCG(3, uint64(order)))
	if order > lastTurn+1 {
		for _, pod := range pods {
			bias[pod] = draw.IntN(4)
		}
	}
	return bias
}

func (l *levels) add(pod *corev1.Pod, node *corev1.Node) {
	for i, spread := range l.spreads {
		if domain, ok := node.Labels[spread.TopologyKey]; ok && l.owners[i].Namespace == pod.Namespace && selects(spread.LabelSelector, pod) {
			l.counts[i][domain]++
		}
	}
}

// height is by how much the domain of a pod stands above the lowest, in the spread where that is worst: twice that, and
// one more for a pod that need not care, since the spread is not its own.
func (l *levels) height(pod *corev1.Pod, node *corev1.Node) int {
	worst := -1
	for i, spread := range l.spreads {
		domain, ok := node.Labels[spread.TopologyKey]
		if !ok || l.owners[i].Namespace != pod.Namespace || !selects(spread.LabelSelector, pod) {
			continue
		}
		least := l.counts[i][domain]
		for _, n := range l.counts[i] {
			least = min(least, n)
		}
		height := 2 * (l.counts[i][domain] - least)
		if !spreadsOver(pod, spread.TopologyKey) {
			height++
		}
		worst = max(worst, height)
	}
	return worst
}

// sort puts the pods that would fill the lowest domains first. `bias` is added to the heights.
func (l *levels) sort(pods []*corev1.Pod, nodeOf func(*corev1.Pod) *framework.NodeInfo, bias map[*corev1.Pod]int) {
	heights := map[*corev1.Pod]int{}
	for _, pod := range pods {
		if info := nodeOf(pod); info != nil {
			heights[pod] = l.height(pod, info.Node()) + bias[pod]
		}
	}
	sort.SliceStable(pods, func(a, b int) bool { return heights[pods[a]] < heights[pods[b]] })
}

// kindOf is the same for pods that ask alike of others and are alike to others.
func kindOf(pod *corev1.Pod) string {
	alike, err := json.Marshal([]any{pod.Namespace, pod.Labels, pod.Spec.TopologySpreadConstraints, pod.Spec.Affinity, pod.Spec.NodeSelector})
	if err != nil {
		return keyOf(pod)
	}
	return string(alike)
}

// politely sorts kinds so that those which count others in a spread or want to start an affinity come before those
// others, as far as possible: it repeatedly takes the kind that the fewest of the remaining kinds must precede.
func politely(keys []string, kinds map[string][]*corev1.Pod) []string {
	var sorted []string
	left := slices.Clone(keys)
	for len(left) > 0 {
		best, least := 0, len(left)+1
		for i, key := range left {
			wanting := 0
			for _, other := range left {
				if other != key && minds(kinds[other][0], kinds[key][0]) && !minds(kinds[key][0], kinds[other][0]) {
					wanting++
				}
			}
			if wanting < least {
				best, least = i, wanting
			}
		}
		sorted = append(sorted, left[best])
		left = slices.Delete(left, best, best+1)
	}
	return sorted
}

// spreadsOver says whether a pod must be spread over a key itself.
func spreadsOver(pod *corev1.Pod, key string) bool {
	return slices.ContainsFunc(pod.Spec.TopologySpreadConstraints, func(spread corev1.TopologySpreadConstraint) bool {
		return spread.WhenUnsatisfiable == corev1.DoNotSchedule && spread.TopologyKey == key
	})
}

// mindsAsMuch says whether a pod has a hard spread over the same key that counts the other pod too and leaves as little
// room. With minDomains that are not there the lowest domain counts as empty, so of two such spreads that one is tighter.
func mindsAsMuch(pod *corev1.Pod, as *corev1.TopologySpreadConstraint, other *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.TopologySpreadConstraints, func(spread corev1.TopologySpreadConstraint) bool {
		return spread.WhenUnsatisfiable == corev1.DoNotSchedule && spread.TopologyKey == as.TopologyKey && counts(pod, &spread, other) &&
			spread.MaxSkew <= as.MaxSkew && (spread.MinDomains != nil || as.MinDomains == nil)
	})
}

// minds says whether a pod counts another, which does not care as much, in a hard spread, or in an affinity that it
// could start alone.
func minds(pod, other *corev1.Pod) bool {
	for i := range pod.Spec.TopologySpreadConstraints {
		spread := &pod.Spec.TopologySpreadConstraints[i]
		if spread.WhenUnsatisfiable == corev1.DoNotSchedule && counts(pod, spread, other) &&
			spread.TopologyKey != corev1.LabelHostname && !mindsAsMuch(other, spread, pod) {
			return true
		}
	}
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAffinity == nil {
		return false
	}
	for _, term := range pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		if selects(term.LabelSelector, pod) && selects(term.LabelSelector, other) {
			return true
		}
	}
	return false
}

// counts says whether a pod's spread counts another pod: the selector, and the same values of its matchLabelKeys.
func counts(pod *corev1.Pod, spread *corev1.TopologySpreadConstraint, other *corev1.Pod) bool {
	return pod.Namespace == other.Namespace && selects(spread.LabelSelector, other) && !slices.ContainsFunc(spread.MatchLabelKeys, func(key string) bool {
		value, ok := pod.Labels[key]
		return ok && other.Labels[key] != value
	})
}

func selects(selector *metav1.LabelSelector, pod *corev1.Pod) bool {
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && parsed.Matches(labels.Set(pod.Labels))
}
