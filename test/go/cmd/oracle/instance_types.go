package main

import (
	corev1 "k8s.io/api/core/v1"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"

	"karpenter-serverless/test/go/internal/scenario"
)

// toKarpenter is an instance type as a cloud provider gives it to Karpenter.
func toKarpenter(t scenario.InstanceType) *cloudprovider.InstanceType {
	offerings := make(cloudprovider.Offerings, 0, len(t.Offerings))
	for _, o := range t.Offerings {
		requirements := scheduling.NewLabelRequirements(map[string]string{
			corev1.LabelTopologyZone: o.Zone, v1.CapacityTypeLabelKey: o.CapacityType,
		})
		if o.ReservationID == "" {
			requirements.Add(scheduling.NewRequirement(reservationID, corev1.NodeSelectorOpDoesNotExist))
		} else {
			requirements.Add(scheduling.NewRequirement(reservationID, corev1.NodeSelectorOpIn, o.ReservationID))
		}
		offerings = append(offerings, &cloudprovider.Offering{
			Requirements: requirements, Price: o.Price, Available: o.Available, ReservationCapacity: o.ReservationCapacity,
		})
	}
	return &cloudprovider.InstanceType{
		Name:         t.Name,
		Requirements: scheduling.NewNodeSelectorRequirementsWithMinValues(t.Requirements...),
		Offerings:    offerings,
		Capacity:     t.Capacity,
		Overhead: &cloudprovider.InstanceTypeOverhead{
			KubeReserved: t.Overhead.KubeReserved, SystemReserved: t.Overhead.SystemReserved, EvictionThreshold: t.Overhead.EvictionThreshold,
		},
	}
}
