package main

import (
	"encoding/json"
	"fmt"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A scenario is what an autoscaler sees at one instant; only what placing pods needs of it.
type scenario struct {
	NodePools              []nodePool                     `json:"nodePools"`
	Nodes                  []corev1.Node                  `json:"nodes"`
	NodeClaims             []nodeClaim                    `json:"nodeClaims"`
	Pods                   []corev1.Pod                   `json:"pods"`
	DaemonSets             []appsv1.DaemonSet             `json:"daemonSets"`
	PersistentVolumeClaims []corev1.PersistentVolumeClaim `json:"persistentVolumeClaims"`
	PersistentVolumes      []corev1.PersistentVolume      `json:"persistentVolumes"`
	StorageClasses         []storagev1.StorageClass       `json:"storageClasses"`
	CSINodes               []storagev1.CSINode            `json:"csiNodes"`
	Namespaces             []corev1.Namespace             `json:"namespaces"`
	InstanceTypes          []instanceType                 `json:"instanceTypes"`
}

type nodePool struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		Template struct {
			Metadata struct {
				Labels map[string]string `json:"labels"`
			} `json:"metadata"`
			Spec struct {
				Taints []corev1.Taint `json:"taints"`
			} `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
}

type nodeClaim struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		Taints        []corev1.Taint `json:"taints"`
		StartupTaints []corev1.Taint `json:"startupTaints"`
	} `json:"spec"`
	Status struct {
		ProviderID  string              `json:"providerID"`
		Capacity    corev1.ResourceList `json:"capacity"`
		Allocatable corev1.ResourceList `json:"allocatable"`
	} `json:"status"`
}

type requirement struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values"`
}

type instanceType struct {
	Name         string              `json:"name"`
	Requirements []requirement       `json:"requirements"`
	Capacity     corev1.ResourceList `json:"capacity"`
	Overhead     struct {
		KubeReserved      corev1.ResourceList `json:"kubeReserved"`
		SystemReserved    corev1.ResourceList `json:"systemReserved"`
		EvictionThreshold corev1.ResourceList `json:"evictionThreshold"`
	} `json:"overhead"`
	Offerings []offering `json:"offerings"`
}

type offering struct {
	Zone          string  `json:"zone"`
	CapacityType  string  `json:"capacityType"`
	Price         float64 `json:"price"`
	Available     bool    `json:"available"`
	ReservationID string  `json:"reservationId"`
}

// A plan says which machines to buy and where pods go.
type plan struct {
	NewNodeClaims []plannedClaim `json:"newNodeClaims"`
	ExistingNodes []struct {
		Name string   `json:"name"`
		Pods []string `json:"pods"`
	} `json:"existingNodes"`
}

type plannedClaim struct {
	NodePool      string        `json:"nodePool"`
	Requirements  []requirement `json:"requirements"`
	InstanceTypes []string      `json:"instanceTypes"`
	Pods          []string      `json:"pods"`
}

// readJSON fills value from a file.
func readJSON(path string, value any) error {
	bytes, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(bytes, value); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func keyOf(pod *corev1.Pod) string {
	namespace := pod.Namespace
	if namespace == "" {
		namespace = "default"
	}
	return namespace + "/" + pod.Name
}
