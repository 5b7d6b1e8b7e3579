package main

import (
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
)

// reservationID is the label of a capacity reservation with the AWS provider.
const reservationID = domain + "/capacity-reservation-id"

const domain = "karpenter.k8s.aws"

// What the AWS provider registers in Karpenter about labels: its own domain is reserved, except for labels that its
// types and offerings define.
func init() {
	v1.RestrictedLabelDomains.Insert(domain)
	for _, name := range []string{
		"capacity-reservation-id", "capacity-reservation-interruptible", "capacity-reservation-type",
		"instance-accelerator-count", "instance-accelerator-manufacturer", "instance-accelerator-name",
		"instance-capability-flex", "instance-category", "instance-cpu", "instance-cpu-manufacturer",
		"instance-cpu-sustained-clock-speed-mhz", "instance-ebs-bandwidth", "instance-encryption-in-transit-supported",
		"instance-family", "instance-generation", "instance-gpu-count", "instance-gpu-manufacturer", "instance-gpu-memory",
		"instance-gpu-name", "instance-hypervisor", "instance-local-nvme", "instance-memory", "instance-network-bandwidth",
		"instance-nitro-enclaves-supported", "instance-size", "instance-tenancy", "placement-group-id", "placement-group-partition",
	} {
		v1.WellKnownLabels.Insert(domain + "/" + name)
	}
	v1.WellKnownLabels.Insert("topology.k8s.aws/zone-id")
	v1.NormalizedLabels["topology.ebs.csi.aws.com/zone"] = "topology.kubernetes.io/zone"
	cloudprovider.ReservationIDLabel = reservationID
	cloudprovider.ReservedCapacityLabels.Insert(reservationID)
}
