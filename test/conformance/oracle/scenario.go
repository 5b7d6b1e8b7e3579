package main

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

// Scenario is what an autoscaler sees at one instant.
type Scenario struct {
	Now                    time.Time                      `json:"now"`
	NodePools              []v1.NodePool                  `json:"nodePools"`
	Nodes                  []corev1.Node                  `json:"nodes"`
	NodeClaims             []v1.NodeClaim                 `json:"nodeClaims"`
	Pods                   []corev1.Pod                   `json:"pods"`
	DaemonSets             []appsv1.DaemonSet             `json:"daemonSets"`
	PodDisruptionBudgets   []policyv1.PodDisruptionBudget `json:"podDisruptionBudgets"`
	PersistentVolumeClaims []corev1.PersistentVolumeClaim `json:"persistentVolumeClaims"`
	PersistentVolumes      []corev1.PersistentVolume      `json:"persistentVolumes"`
	StorageClasses         []storagev1.StorageClass       `json:"storageClasses"`
	CSINodes               []storagev1.CSINode            `json:"csiNodes"`
	Namespaces             []corev1.Namespace             `json:"namespaces"`
	InstanceTypes          []InstanceType                 `json:"instanceTypes"`
}

// InstanceType is one machine of the cloud's list.
type InstanceType struct {
	Name         string                                    `json:"name"`
	Requirements []v1.NodeSelectorRequirementWithMinValues `json:"requirements"`
	Capacity     corev1.ResourceList                       `json:"capacity"`
	Overhead     struct {
		KubeReserved      corev1.ResourceList `json:"kubeReserved"`
		SystemReserved    corev1.ResourceList `json:"systemReserved"`
		EvictionThreshold corev1.ResourceList `json:"evictionThreshold"`
	} `json:"overhead"`
	Offerings []Offering `json:"offerings"`
}

// Offering is one way of buying an instance type.
type Offering struct {
	Zone                string  `json:"zone"`
	CapacityType        string  `json:"capacityType"`
	Price               float64 `json:"price"`
	Available           bool    `json:"available"`
	ReservationID       string  `json:"reservationId"`
	ReservationCapacity int     `json:"reservationCapacity"`
}

func (t InstanceType) toKarpenter() *cloudprovider.InstanceType {
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
