// Package scenario declares what the commands of this module read, and reads it: what an autoscaler sees at one
// instant, and what it decides.
package scenario

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
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

// Requirement is one rule on a label, of a machine or of what a claim asks.
type Requirement = v1.NodeSelectorRequirementWithMinValues

// InstanceType is one machine of the cloud's list.
type InstanceType struct {
	Name         string              `json:"name"`
	Requirements []Requirement       `json:"requirements"`
	Capacity     corev1.ResourceList `json:"capacity"`
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

// Plan says which machines to buy and where pods go.
type Plan struct {
	NewNodeClaims []PlannedClaim    `json:"newNodeClaims"`
	ExistingNodes []PlannedNode     `json:"existingNodes"`
	PodErrors     map[string]string `json:"podErrors"`
	// CPUMillis is the CPU time of all threads that Karpenter took to decide.
	CPUMillis float64 `json:"cpuMillis"`
}

// PlannedClaim is one machine to launch.
type PlannedClaim struct {
	NodePool      string              `json:"nodePool"`
	Requirements  []Requirement       `json:"requirements"`
	Taints        []corev1.Taint      `json:"taints"`
	InstanceTypes []string            `json:"instanceTypes"`
	Requests      corev1.ResourceList `json:"requests"`
	Pods          []string            `json:"pods"`
}

// PlannedNode is a node that takes pods.
type PlannedNode struct {
	Name string   `json:"name"`
	Pods []string `json:"pods"`
}

// Read reads a file of JSON, gzipped or not: a Scenario or a Plan.
func Read[T any](path string) (*T, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		reader, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if data, err = io.ReadAll(reader); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	value := new(T)
	if err := json.Unmarshal(data, value); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return value, nil
}
