package main

import (
	"context"
	"errors"

	"github.com/awslabs/operatorpkg/status"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/test/v1alpha1"
)

var errReadOnly = errors.New("a scenario's cloud can only be looked at")

// cloud offers every pool the instance types of the scenario.
type cloud struct {
	types []*cloudprovider.InstanceType
}

var _ cloudprovider.CloudProvider = cloud{}

func (c cloud) GetInstanceTypes(context.Context, *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	return c.types, nil
}
func (cloud) Name() string                                        { return "aws" }
func (cloud) GetSupportedNodeClasses() []status.Object            { return []status.Object{&ec2NodeClass{}} }
func (cloud) RepairPolicies() []cloudprovider.RepairPolicy        { return nil }
func (cloud) List(context.Context) ([]*v1.NodeClaim, error)       { return nil, nil }
func (cloud) Delete(context.Context, *v1.NodeClaim) error         { return errReadOnly }
func (cloud) Get(context.Context, string) (*v1.NodeClaim, error)  { return nil, errReadOnly }
func (cloud) Reboot(context.Context, *v1.NodeClaim, string) error { return errReadOnly }
func (cloud) Create(context.Context, *v1.NodeClaim) (*v1.NodeClaim, error) {
	return nil, errReadOnly
}
func (cloud) IsDrifted(context.Context, *v1.NodeClaim) (cloudprovider.DriftReason, error) {
	return "", nil
}

// ec2NodeClass stands for the AWS provider's class, of which Karpenter asks only the kind.
type ec2NodeClass struct{ v1alpha1.TestNodeClass }

func (c *ec2NodeClass) DeepCopyObject() runtime.Object {
	return &ec2NodeClass{TestNodeClass: *c.TestNodeClass.DeepCopy()}
}

func init() {
	kind := schema.GroupVersionKind{Group: "karpenter.k8s.aws", Version: "v1", Kind: "EC2NodeClass"}
	scheme.Scheme.AddKnownTypeWithName(kind, &ec2NodeClass{})
}
