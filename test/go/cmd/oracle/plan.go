package main

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/utils/node"

	"karpenter-serverless/test/go/internal/scenario"
)

func (w *world) solve() (*scenario.Plan, error) {
	before := cpuTime()
	results, err := w.provisioner.Schedule(w.ctx)
	cpu := cpuTime() - before
	if err != nil {
		return nil, err
	}
	plan := &scenario.Plan{
		NewNodeClaims: []scenario.PlannedClaim{}, ExistingNodes: []scenario.PlannedNode{}, PodErrors: map[string]string{},
		CPUMillis: milliseconds(cpu),
	}
	for _, claim := range results.NewNodeClaims {
		plan.NewNodeClaims = append(plan.NewNodeClaims, plannedClaim(claim))
	}
	for _, node := range results.ExistingNodes {
		if len(node.Pods) > 0 {
			plan.ExistingNodes = append(plan.ExistingNodes, scenario.PlannedNode{Name: node.Name(), Pods: namesOf(node.Pods)})
		}
	}
	slices.SortFunc(plan.ExistingNodes, func(a, b scenario.PlannedNode) int { return cmp.Compare(a.Name, b.Name) })
	for pod, err := range results.PodErrors {
		plan.PodErrors[nameOf(pod)] = err.Error()
	}
	return plan, w.explainIgnored(plan)
}

// explainIgnored adds the pods that the provisioner only logs, because it refuses them before it looks for a place.
func (w *world) explainIgnored(plan *scenario.Plan) error {
	pods, err := node.GetProvisionablePods(w.ctx, w.client)
	if err != nil {
		return err
	}
	for _, pod := range pods {
		if err := w.provisioner.Validate(w.ctx, pod); err != nil {
			plan.PodErrors[nameOf(pod)] = fmt.Sprintf("ignoring pod, %s", err)
		}
	}
	return nil
}

func plannedClaim(claim *scheduling.NodeClaim) scenario.PlannedClaim {
	planned := scenario.PlannedClaim{
		NodePool:      claim.NodePoolName,
		Requirements:  claim.Requirements.NodeSelectorRequirements(),
		Taints:        append([]corev1.Taint{}, claim.Spec.Taints...),
		InstanceTypes: []string{},
		Requests:      claim.Spec.Resources.Requests,
		Pods:          namesOf(claim.Pods),
	}
	// Every template holds these two, so that daemonsets which ask for them count; no claim is created with them.
	planned.Requirements = slices.DeleteFunc(planned.Requirements, func(r scenario.Requirement) bool {
		return r.Key == v1.NodeRegisteredLabelKey || r.Key == v1.NodeInitializedLabelKey
	})
	slices.SortFunc(planned.Requirements, func(a, b scenario.Requirement) int { return cmp.Compare(a.Key, b.Key) })
	for _, requirement := range planned.Requirements {
		slices.Sort(requirement.Values)
	}
	for _, t := range claim.InstanceTypeOptions.OrderByPrice(claim.Requirements) {
		planned.InstanceTypes = append(planned.InstanceTypes, t.Name)
	}
	return planned
}

func namesOf(pods []*corev1.Pod) []string {
	names := []string{}
	for _, pod := range pods {
		names = append(names, nameOf(pod))
	}
	return names
}

func nameOf(pod *corev1.Pod) string { return pod.Namespace + "/" + pod.Name }
