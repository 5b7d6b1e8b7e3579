// Command instance-types prints what the AWS provider of Karpenter makes of EC2's records: each instance type with its
// requirements, capacity, overhead and offerings, for a NodeClass of AL2023 with a subnet in each zone.
//
// Standard input is an input; standard output is a JSON list, sorted by name.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/patrickmn/go-cache"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	coreoptions "sigs.k8s.io/karpenter/pkg/operator/options"

	v1 "github.com/aws/karpenter-provider-aws/pkg/apis/v1"
	sdk "github.com/aws/karpenter-provider-aws/pkg/aws"
	awscache "github.com/aws/karpenter-provider-aws/pkg/cache"
	kubeletcel "github.com/aws/karpenter-provider-aws/pkg/cel"
	"github.com/aws/karpenter-provider-aws/pkg/operator/options"
	"github.com/aws/karpenter-provider-aws/pkg/providers/arczonalshift"
	"github.com/aws/karpenter-provider-aws/pkg/providers/instancetype"
	"github.com/aws/karpenter-provider-aws/pkg/providers/pricing"
)

// input is a region: EC2's records, and prices in USD per hour.
type input struct {
	Region        string                                       `json:"region"`
	Zones         []zone                                       `json:"zones"`
	InstanceTypes []ec2types.InstanceTypeInfo                  `json:"instanceTypes"`
	Offerings     []ec2types.InstanceTypeOffering              `json:"offerings"`
	OnDemand      map[ec2types.InstanceType]float64            `json:"onDemand"`
	Spot          map[ec2types.InstanceType]map[string]float64 `json:"spot"`
}

type zone struct {
	Name   string `json:"name"`
	ZoneID string `json:"zoneId"`
}

type instanceType struct {
	Name         string              `json:"name"`
	Requirements []requirement       `json:"requirements"`
	Capacity     corev1.ResourceList `json:"capacity"`
	Overhead     overhead            `json:"overhead"`
	Offerings    []offering          `json:"offerings"`
}

type requirement struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values"`
}

type overhead struct {
	KubeReserved      corev1.ResourceList `json:"kubeReserved"`
	SystemReserved    corev1.ResourceList `json:"systemReserved"`
	EvictionThreshold corev1.ResourceList `json:"evictionThreshold"`
}

type offering struct {
	Zone         string  `json:"zone"`
	CapacityType string  `json:"capacityType"`
	Price        float64 `json:"price"`
	Available    bool    `json:"available"`
}

// region answers the provider's questions to EC2; all other questions end the program.
type region struct {
	sdk.EC2API
	*input
}

func (r region) DescribeInstanceTypes(context.Context, *ec2.DescribeInstanceTypesInput, ...func(*ec2.Options)) (*ec2.DescribeInstanceTypesOutput, error) {
	return &ec2.DescribeInstanceTypesOutput{InstanceTypes: r.InstanceTypes}, nil
}

func (r region) DescribeInstanceTypeOfferings(context.Context, *ec2.DescribeInstanceTypeOfferingsInput, ...func(*ec2.Options)) (*ec2.DescribeInstanceTypeOfferingsOutput, error) {
	return &ec2.DescribeInstanceTypeOfferingsOutput{InstanceTypeOfferings: r.Offerings}, nil
}

type prices struct {
	pricing.Provider
	of *input
}

func (p prices) OnDemandPrice(name ec2types.InstanceType) (float64, bool) {
	price, ok := p.of.OnDemand[name]
	return price, ok
}

func (p prices) SpotPrice(name ec2types.InstanceType, zone string) (float64, bool) {
	price, ok := p.of.Spot[name][zone]
	return price, ok
}

type noShift struct{ arczonalshift.Provider }

func (noShift) IsZonalShifted(context.Context, string) bool { return false }
func (noShift) ShiftedZones() sets.Set[string]              { return nil }

func main() {
	asked := &input{}
	if err := json.NewDecoder(os.Stdin).Decode(asked); err != nil {
		fail(err)
	}
	types, err := typesOf(context.Background(), asked)
	if err != nil {
		fail(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(types); err != nil {
		fail(err)
	}
}

func typesOf(ctx context.Context, asked *input) ([]instanceType, error) {
	ctx = coreoptions.ToContext(ctx, &coreoptions.Options{})
	ctx = options.ToContext(ctx, &options.Options{VMMemoryOverheadPercent: 0.075})
	environment, err := kubeletcel.NewEnvironment()
	if err != nil {
		return nil, err
	}
	memory := func() *cache.Cache { return cache.New(time.Hour, time.Hour) }
	provider := instancetype.NewDefaultProvider(memory(), memory(), memory(), region{input: asked}, nil, prices{of: asked}, nil, nil,
		awscache.NewUnavailableOfferings(), instancetype.NewDefaultResolver(asked.Region, environment), noShift{}, nil, environment)
	if err := provider.UpdateInstanceTypes(ctx); err != nil {
		return nil, err
	}
	if err := provider.UpdateInstanceTypeOfferings(ctx); err != nil {
		return nil, err
	}
	nodeClass := &v1.EC2NodeClass{Spec: v1.EC2NodeClassSpec{AMISelectorTerms: []v1.AMISelectorTerm{{Alias: "al2023@latest"}}}}
	for i, z := range asked.Zones {
		nodeClass.Status.Subnets = append(nodeClass.Status.Subnets, v1.Subnet{ID: fmt.Sprintf("subnet-%d", i), Zone: z.Name, ZoneID: z.ZoneID})
	}
	listed, err := provider.List(ctx, nodeClass)
	if err != nil {
		return nil, err
	}
	types := make([]instanceType, 0, len(listed))
	for _, one := range listed {
		types = append(types, plain(one))
	}
	slices.SortFunc(types, func(a, b instanceType) int { return cmp.Compare(a.Name, b.Name) })
	return types, nil
}

func plain(of *cloudprovider.InstanceType) instanceType {
	made := instanceType{Name: of.Name, Capacity: of.Capacity, Overhead: overhead{
		KubeReserved: of.Overhead.KubeReserved, SystemReserved: of.Overhead.SystemReserved, EvictionThreshold: of.Overhead.EvictionThreshold,
	}}
	for key, r := range of.Requirements {
		values := append([]string{}, r.Values()...)
		slices.Sort(values)
		made.Requirements = append(made.Requirements, requirement{Key: key, Operator: string(r.Operator()), Values: values})
	}
	slices.SortFunc(made.Requirements, func(a, b requirement) int { return cmp.Compare(a.Key, b.Key) })
	for _, o := range of.Offerings {
		made.Offerings = append(made.Offerings, offering{
			Zone:         o.Requirements.Get(corev1.LabelTopologyZone).Any(),
			CapacityType: o.Requirements.Get(karpv1.CapacityTypeLabelKey).Any(),
			Price:        o.Price, Available: o.Available,
		})
	}
	slices.SortFunc(made.Offerings, func(a, b offering) int {
		return cmp.Or(cmp.Compare(a.Zone, b.Zone), cmp.Compare(a.CapacityType, b.CapacityType))
	})
	return made
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "instance-types:", err)
	os.Exit(1)
}
