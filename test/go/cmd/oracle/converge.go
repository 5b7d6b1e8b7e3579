package main

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/disruption"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/utils/pod"
)

// Trail is what happens when command after command is carried out until nothing more is decided.
type Trail struct {
	Passes []Pass `json:"passes"`
	// IdleMs is how long the pass took that found nothing; missing when time ran out before.
	IdleMs    *float64 `json:"idleMs,omitempty"`
	IdleCPUMs *float64 `json:"idleCpuMs,omitempty"`
	// FirstRssMib is the most memory that was held up to the end of the first pass, input included.
	FirstRssMib float64 `json:"firstRssMib"`
}

// Pass is a command with what came of it: machines that were bought, and where each pod went.
type Pass struct {
	PlannedCommand
	Nodes      []*corev1.Node    `json:"nodes"`
	NodeClaims []*v1.NodeClaim   `json:"nodeClaims"`
	Landed     map[string]string `json:"landed"`
	// Millis is how long Karpenter's methods took to decide; carrying it out is not counted.
	Millis float64 `json:"millis"`
	// CPUMillis is the same in CPU time of all threads, which a busy machine does not stretch.
	CPUMillis float64 `json:"cpuMillis"`
}

// converge carries out what each pass decides, as if every launch came up as its cheapest offering and every pod landed
// where Karpenter's simulation put it, until a pass finds nothing or the CPU time for deciding has been used up.
func (w *world) converge(limit time.Duration) (*Trail, error) {
	trail := &Trail{Passes: []Pass{}}
	var spent time.Duration
	for spent < limit {
		start, cpuBefore := time.Now(), cpuTime()
		command, method, err := w.decide()
		millis, cpu := milliseconds(time.Since(start)), cpuTime()-cpuBefore
		cpuMillis := milliseconds(cpu)
		spent += cpu
		if trail.FirstRssMib == 0 {
			trail.FirstRssMib = peakRssMib()
		}
		if err != nil {
			return nil, err
		}
		if command == nil {
			trail.IdleMs, trail.IdleCPUMs = &millis, &cpuMillis
			break
		}
		pass := Pass{PlannedCommand: plannedCommand(method, *command), Millis: millis, CPUMillis: cpuMillis, Landed: map[string]string{}}
		if err := w.carryOut(*command, len(trail.Passes), &pass); err != nil {
			return nil, err
		}
		trail.Passes = append(trail.Passes, pass)
	}
	return trail, nil
}

// decide is one pass: the first method that finds something.
func (w *world) decide() (*disruption.Command, string, error) {
	methods, queue := w.methods()
	for _, m := range methods {
		commands, err := w.commandsOf(m.method, queue)
		if err != nil {
			return nil, "", err
		}
		for _, command := range commands {
			if command.Decision() != disruption.NoOpDecision {
				return &command, m.name, nil
			}
		}
	}
	return nil, "", nil
}

func (w *world) carryOut(command disruption.Command, number int, pass *Pass) error {
	target := map[client.ObjectKey]string{}
	for i, replacement := range command.Replacements {
		node, claim, err := launched(replacement.NodeClaim, fmt.Sprintf("pass-%d-%d", number, i))
		if err != nil {
			return err
		}
		if err := w.addMachine(node, claim); err != nil {
			return err
		}
		pass.Nodes, pass.NodeClaims = append(pass.Nodes, node), append(pass.NodeClaims, claim)
		for _, p := range replacement.Pods {
			target[client.ObjectKeyFromObject(p)] = node.Name
		}
	}
	for _, node := range command.Results.ExistingNodes {
		for _, p := range node.Pods {
			target[client.ObjectKeyFromObject(p)] = node.Name()
		}
	}
	for _, candidate := range command.Candidates {
		for key, p := range w.pods.byNode[candidate.Name()] {
			if !pod.IsReschedulable(p) {
				w.pods.dropPod(key)
				w.cluster.DeletePod(key)
				continue
			}
			moved := p.DeepCopy()
			// Without a place it would wait for one; a command that leads there is Karpenter's mistake, and is shown.
			moved.Spec.NodeName = target[key]
			w.pods.putPod(moved)
			if moved.Spec.NodeName == "" {
				w.cluster.DeletePod(key)
				continue
			}
			pass.Landed[nameOf(moved)] = moved.Spec.NodeName
			if err := w.cluster.UpdatePod(w.ctx, moved.DeepCopy()); err != nil {
				return err
			}
		}
		delete(w.pods.nodes, candidate.Name())
		if err := w.client.Delete(w.ctx, &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: candidate.NodeClaim.Name}}); err != nil {
			return err
		}
		w.cluster.DeleteNode(candidate.Name())
		w.cluster.DeleteNodeClaim(candidate.NodeClaim.Name)
	}
	return nil
}

func (w *world) addMachine(node *corev1.Node, claim *v1.NodeClaim) error {
	w.pods.nodes[node.Name] = node.DeepCopy()
	if err := w.client.Create(w.ctx, claim.DeepCopy()); err != nil {
		return err
	}
	w.cluster.UpdateNodeClaim(claim.DeepCopy())
	return w.cluster.UpdateNode(w.ctx, node.DeepCopy())
}

// launched is the machine that the cheapest offering of a planned claim gives, up and initialized.
func launched(planned *scheduling.NodeClaim, name string) (*corev1.Node, *v1.NodeClaim, error) {
	var kind *cloudprovider.InstanceType
	var offering *cloudprovider.Offering
	for _, t := range planned.InstanceTypeOptions {
		offers := t.Offerings.Available().Compatible(planned.Requirements)
		if len(offers) == 0 {
			continue
		}
		cheapest := offers.Cheapest()
		if offering == nil || cmp.Or(cmp.Compare(cheapest.Price, offering.Price), cmp.Compare(t.Name, kind.Name)) < 0 {
			kind, offering = t, cheapest
		}
	}
	if offering == nil {
		return nil, nil, fmt.Errorf("nothing that was planned in %s can be bought", planned.NodePoolName)
	}
	claim := planned.ToNodeClaim()
	claim.GenerateName, claim.Name = "", name+"-claim"
	claim.CreationTimestamp = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	for key, requirement := range kind.Requirements {
		if requirement.Operator() == corev1.NodeSelectorOpIn && requirement.Len() == 1 {
			claim.Labels[key] = requirement.Any()
		}
	}
	claim.Labels[v1.CapacityTypeLabelKey] = offering.CapacityType()
	claim.Labels[corev1.LabelTopologyZone] = offering.Zone()
	claim.Status = v1.NodeClaimStatus{
		ProviderID: fmt.Sprintf("aws:///%s/i-%s", offering.Zone(), name), NodeName: name,
		Capacity: kind.Capacity, Allocatable: kind.Allocatable(),
	}
	for _, condition := range []string{
		v1.ConditionTypeLaunched, v1.ConditionTypeRegistered, v1.ConditionTypeInitialized, v1.ConditionTypeConsolidatable,
	} {
		claim.StatusConditions().SetTrue(condition)
	}
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: claim.CreationTimestamp, Labels: map[string]string{
			corev1.LabelHostname: name, v1.NodeRegisteredLabelKey: "true", v1.NodeInitializedLabelKey: "true",
		}},
		Spec: corev1.NodeSpec{ProviderID: claim.Status.ProviderID, Taints: claim.Spec.Taints},
		Status: corev1.NodeStatus{
			Capacity: kind.Capacity, Allocatable: kind.Allocatable(),
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
	for key, value := range claim.Labels {
		node.Labels[key] = value
	}
	return node, claim, nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// cpuTime is what all threads of the process have used so far.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// peakRssMib is the most memory that the process has held so far; 0 where /proc does not say.
func peakRssMib() float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmHWM:" {
			kib, _ := strconv.ParseFloat(fields[1], 64)
			return kib / 1024
		}
	}
	return 0
}
