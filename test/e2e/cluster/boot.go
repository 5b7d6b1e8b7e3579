package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	kubeletapis "k8s.io/kubelet/pkg/apis"

	"karpenter-serverless/test/e2e/cluster/userdata"
)

// A machine is an instance that boots. UserData is decoded text; the rest is what the instance or the cloud would know.
type machine struct {
	InstanceID     string              `json:"instanceId"`
	Zone           string              `json:"zone"`
	Region         string              `json:"region"`
	InstanceType   string              `json:"instanceType"`
	Architecture   string              `json:"architecture"` // amd64 (the default) or arm64
	Capacity       corev1.ResourceList `json:"capacity"`
	Allocatable    corev1.ResourceList `json:"allocatable"` // nil: the kubelet subtracts what is reserved
	PrivateDNSName string              `json:"privateDnsName"`
	UserData       string              `json:"userData"`
	ReadyAfter     string              `json:"readyAfter"` // a Go duration
}

// bootstrap makes nodes of machines whose user data leads to this cluster.
type bootstrap struct {
	clusterName, server string
	ca                  []byte // DER
	kubelets            kubernetes.Interface
	admin               kubernetes.Interface
}

// A bootAnswer is what POST /boot gives.
type bootAnswer struct {
	Name       string `json:"name"`
	ProviderID string `json:"providerID"`
	Created    bool   `json:"created"`
}

func (b *bootstrap) boot(w http.ResponseWriter, r *http.Request) {
	var m machine
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		http.Error(w, "the machine cannot be read: "+err.Error(), http.StatusBadRequest)
		return
	}
	n, err := b.node(m)
	if err != nil {
		http.Error(w, fmt.Sprintf("instance %s does not join: %s", m.InstanceID, err), http.StatusUnprocessableEntity)
		return
	}
	answer := bootAnswer{Name: n.Name, ProviderID: n.Spec.ProviderID, Created: true}
	_, err = b.kubelets.CoreV1().Nodes().Create(asNode(r.Context(), n.Name), n, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		answer.Created = false
		var there *corev1.Node
		if there, err = b.admin.CoreV1().Nodes().Get(r.Context(), n.Name, metav1.GetOptions{}); err == nil && there.Spec.ProviderID != n.Spec.ProviderID {
			err = fmt.Errorf("node %s is there already, of %s", n.Name, there.Spec.ProviderID)
		}
	}
	if err != nil {
		http.Error(w, fmt.Sprintf("instance %s does not join: %s", m.InstanceID, err), http.StatusUnprocessableEntity)
		return
	}
	reply(w, answer)
}

// node is what the machine's kubelet registers, with the labels that the cloud controller would add.
func (b *bootstrap) node(m machine) (*corev1.Node, error) {
	if m.InstanceID == "" || m.Zone == "" || m.Region == "" || m.InstanceType == "" || m.PrivateDNSName == "" || len(m.Capacity) == 0 {
		return nil, errors.New("instanceId, zone, region, instanceType, privateDnsName and capacity must all be given")
	}
	c, err := userdata.Read(m.UserData)
	if err != nil {
		return nil, err
	}
	if err := b.leadsHere(c); err != nil {
		return nil, err
	}
	arch := m.Architecture
	if arch == "" {
		arch = "amd64"
	}
	os := "linux"
	if c.Family == "Windows" {
		os = "windows"
	}
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: m.PrivateDNSName, Labels: map[string]string{}, Annotations: map[string]string{fakeNode: "fake"}}}
	for k, v := range c.Labels {
		if err := selfSet(k); err != nil {
			return nil, err
		}
		n.Labels[k] = v
	}
	for k, v := range map[string]string{
		corev1.LabelHostname: m.PrivateDNSName, corev1.LabelOSStable: os, corev1.LabelArchStable: arch, "beta.kubernetes.io/os": os, "beta.kubernetes.io/arch": arch,
		corev1.LabelInstanceTypeStable: m.InstanceType, corev1.LabelInstanceType: m.InstanceType,
		corev1.LabelTopologyZone: m.Zone, corev1.LabelTopologyRegion: m.Region, corev1.LabelFailureDomainBetaZone: m.Zone, corev1.LabelFailureDomainBetaRegion: m.Region,
	} {
		n.Labels[k] = v
	}
	if m.ReadyAfter != "" {
		n.Annotations[readyAfter] = m.ReadyAfter
	}
	n.Spec.ProviderID = "aws:///" + m.Zone + "/" + m.InstanceID
	for _, t := range c.Taints {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: t.Key, Value: t.Value, Effect: corev1.TaintEffect(t.Effect)})
	}
	n.Status.Capacity = m.Capacity.DeepCopy()
	if c.MaxPods > 0 {
		n.Status.Capacity[corev1.ResourcePods] = *resource.NewQuantity(int64(c.MaxPods), resource.DecimalSI)
	}
	if n.Status.Allocatable = m.Allocatable; n.Status.Allocatable == nil {
		if n.Status.Allocatable, err = allocatable(n.Status.Capacity, c); err != nil {
			return nil, err
		}
	} else if c.MaxPods > 0 {
		n.Status.Allocatable[corev1.ResourcePods] = n.Status.Capacity[corev1.ResourcePods]
	}
	n.Status.Addresses = addresses(m.PrivateDNSName)
	return n, nil
}

// leadsHere reports whether a kubelet with this configuration would reach this cluster and trust it.
func (b *bootstrap) leadsHere(c userdata.Config) error {
	if c.ClusterName != b.clusterName {
		return fmt.Errorf("its user data names the cluster %q, this is %q", c.ClusterName, b.clusterName)
	}
	if strings.TrimSuffix(c.Endpoint, "/") != b.server {
		return fmt.Errorf("its user data leads to %s, the cluster is at %s", c.Endpoint, b.server)
	}
	raw, err := base64.StdEncoding.DecodeString(c.CA)
	if err != nil {
		return fmt.Errorf("the certificate authority in its user data is not base64: %w", err)
	}
	block, _ := pem.Decode(raw)
	if block == nil {
		return errors.New("the certificate authority in its user data is not PEM inside the base64")
	}
	if !bytes.Equal(block.Bytes, b.ca) {
		return errors.New("the certificate authority in its user data is another cluster's: the kubelet would not trust the API server")
	}
	return nil
}

// selfSet refuses what a kubelet refuses to start with: labels of Kubernetes' domains that it may not set on itself.
func selfSet(label string) error {
	domain, _, ok := strings.Cut(label, "/")
	if !ok || kubeletapis.IsKubeletLabel(label) {
		return nil
	}
	for _, reserved := range []string{"kubernetes.io", "k8s.io"} {
		if domain == reserved || strings.HasSuffix(domain, "."+reserved) {
			return fmt.Errorf("its kubelet does not start: --node-labels must not have %s", label)
		}
	}
	return nil
}

// allocatable is capacity less what the user data reserves; what it does not name is reserved as EKS's AMIs do by
// default.
func allocatable(capacity corev1.ResourceList, c userdata.Config) (corev1.ResourceList, error) {
	kube := map[string]string{
		"cpu":               fmt.Sprintf("%dm", reservedMilliCPU(capacity.Cpu().MilliValue())),
		"memory":            fmt.Sprintf("%dMi", 11*capacity.Pods().Value()+255),
		"ephemeral-storage": "1Gi",
	}
	if c.KubeReserved != nil {
		kube = c.KubeReserved
	}
	eviction := map[string]string{"memory.available": "100Mi", "nodefs.available": "10%"}
	for k, v := range c.EvictionHard {
		eviction[k] = v
	}
	out := capacity.DeepCopy()
	subtract := func(name, amount string) error {
		q, have := out[corev1.ResourceName(name)]
		if !have {
			return nil
		}
		less, err := resource.ParseQuantity(amount)
		if percent, ok := strings.CutSuffix(amount, "%"); ok {
			var share float64
			if _, err = fmt.Sscanf(percent, "%g", &share); err == nil {
				of := capacity[corev1.ResourceName(name)]
				less = *resource.NewQuantity(int64(float64(of.Value())*share/100), resource.BinarySI)
			}
		}
		if err != nil {
			return fmt.Errorf("its kubelet does not start: %s of %s is no quantity", amount, name)
		}
		if q.Sub(less); q.Sign() < 0 {
			q = resource.Quantity{}
		}
		out[corev1.ResourceName(name)] = q
		return nil
	}
	for _, reserved := range []map[string]string{kube, c.SystemReserved} {
		for name, amount := range reserved {
			if err := subtract(name, amount); err != nil {
				return nil, err
			}
		}
	}
	for signal, name := range map[string]string{"memory.available": "memory", "nodefs.available": "ephemeral-storage"} {
		if err := subtract(name, eviction[signal]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// reservedMilliCPU is the EKS AMIs' share of CPU for the kubelet: 6 % of the first core, 1 % of the second, 0.5 % of
// the next two, 0.25 % of the rest.
func reservedMilliCPU(milli int64) int64 {
	tenThousandths, from := int64(0), int64(0)
	for _, step := range []struct{ to, share int64 }{{1000, 600}, {2000, 100}, {4000, 50}, {1 << 40, 25}} {
		if milli > from {
			tenThousandths += (min(milli, step.to) - from) * step.share
		}
		from = step.to
	}
	return tenThousandths / 10_000
}

// halt takes machines away: their kubelets stop, as when an instance ends. The Node stays.
func (b *bootstrap) halt(w http.ResponseWriter, r *http.Request) {
	var which struct{ ProviderID, NodeName string }
	if err := json.NewDecoder(r.Body).Decode(&which); err != nil || which.ProviderID+which.NodeName == "" {
		http.Error(w, "give providerID or nodeName", http.StatusBadRequest)
		return
	}
	names, err := b.stop(r.Context(), which.ProviderID, which.NodeName)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	reply(w, map[string]any{"halted": names})
}

func (b *bootstrap) stop(ctx context.Context, providerID, name string) ([]string, error) {
	nodes, err := b.admin.CoreV1().Nodes().List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return nil, err
	}
	patch, _ := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{kubeletState: "stopped"}}})
	halted := []string{}
	for _, n := range nodes.Items {
		if (providerID == "" || n.Spec.ProviderID != providerID) && n.Name != name {
			continue
		}
		_, err := b.admin.CoreV1().Nodes().Patch(ctx, n.Name, types.MergePatchType, patch, metav1.PatchOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return halted, err
		}
		halted = append(halted, n.Name)
	}
	return halted, nil
}

func reply(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}
