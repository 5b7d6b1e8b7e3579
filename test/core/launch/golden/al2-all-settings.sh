MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="//"

--//
Content-Type: text/x-shellscript; charset="us-ascii"

#!/bin/bash -xe
exec > >(tee /var/log/user-data.log | logger -t user-data -s 2>/dev/console) 2>&1
/etc/eks/bootstrap.sh 'prod' --apiserver-endpoint 'https://ABC.eks.example' --b64-cluster-ca 'Q0E=' \
--dns-cluster-ip '10.0.0.53' \
--use-max-pods false \
--kubelet-extra-args '--node-labels="karpenter.sh/capacity-type=spot,karpenter.sh/do-not-sync-taints=true,karpenter.sh/nodepool=default,team=ours" --register-with-taints="dedicated=gpu:NoSchedule,cni.example/not-ready:NoExecute,karpenter.sh/unregistered:NoExecute" --max-pods=42 --pods-per-core=8 --system-reserved="cpu=100m,ephemeral-storage=1Gi,memory=200Mi,pid=1000" --kube-reserved="cpu=90m,ephemeral-storage=2Gi,memory=574Mi" --eviction-hard="memory.available<5%,nodefs.available<10%,nodefs.inodesFree<10%" --eviction-soft="imagefs.available<15%,memory.available<500Mi" --eviction-soft-grace-period="imagefs.available=1m30s,memory.available=1m" --eviction-max-pod-grace-period=60 --image-gc-high-threshold=85 --image-gc-low-threshold=80 --cpu-cfs-quota=false' \
--local-disks raid0
--//--
