package main

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/utils/node"
)

// Plan is what one run of the provisioner decides.
type Plan struct {
	NewNodeClaims []PlannedClaim    `json:"newNodeClaims"`
	ExistingNodes []PlannedNode     `json:"existingNodes"`
	PodErrors     map[string]string `json:"podErrors"`
}

// PlannedClaim is one machine to launch.
type PlannedClaim struct {
	NodePool      string                                    `json:"nodePool"`
	Requirements  []v1.NodeSelectorRequirementWithMinValues `json:"requirements"`
	Taints        []corev1.Taint                            `json:"taints"`
	InstanceTypes []string                                  `json:"instanceTypes"`
	Requests      corev1.ResourceList                       `json:"requests"`
	Pods          []string                                  `json:"pods"`
}

// PlannedNode is a node that takes pods.
type PlannedNode struct {
	Name string   `json:"name"`
	Pods []string `json:"pods"`
}

func (w *world) solve() (*Plan, error) {
	results, err := w.provisioner.Schedule(w.ctx)
	if err != nil {
		return nil, err
	}
	plan := &Plan{NewNodeClaims: []PlannedClaim{}, ExistingNodes: []PlannedNode{}, PodErrors: map[string]string{}}
	for _, claim := range results.NewNodeClaims {
		plan.NewNodeClaims = append(plan.NewNodeClaims, plannedClaim(claim))
	}
	for _, node := range results.ExistingNodes {
		if len(node.Pods) > 0 {
			plan.ExistingNodes = append(plan.ExistingNodes, PlannedNode{Name: node.Name(), Pods: namesOf(node.Pods)})
		}
	}
	slices.SortFunc(plan.ExistingNodes, func(a, b PlannedNode) int { return cmp.Compare(a.Name, b.Name) })
	for pod, err := range results.PodErrors {
		plan.PodErrors[nameOf(pod)] = err.Error()
	}
	return plan, w.explainIgnored(plan)
}

// explainIgnored adds the pods that the provisioner only logs, because it refuses them before it looks for a place.
func (w *world) explainIgnored(plan *Plan) error {
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

func plannedClaim(claim *scheduling.NodeClaim) PlannedClaim {
	planned := PlannedClaim{
		NodePool:      claim.NodePoolName,
		Requirements:  claim.Requirements.NodeSelectorRequirements(),
		Taints:        append([]corev1.Taint{}, claim.Spec.Taints...),
		InstanceTypes: []string{},
		Requests:      claim.Spec.Resources.Requests,
		Pods:          namesOf(claim.Pods),
	}
	// Every template holds these two, so that daemonsets which ask for them count; no claim is created with them.
	planned.Requirements = slices.DeleteFunc(planned.Requirements, func(r v1.NodeSelectorRequirementWithMinValues) bool {
		return r.Key == v1.NodeRegisteredLabelKey || r.Key == v1.NodeInitializedLabelKey
	})
	slices.SortFunc(planned.Requirements, func(a, b v1.NodeSelectorRequirementWithMinValues) int { return cmp.Compare(a.Key, b.Key) })
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
