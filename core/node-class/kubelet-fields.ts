/**
 * What a field of a KubeletConfiguration holds, as Go decodes it. A list has one type for its items; a map whose only
 * key is "*" takes any key.
 */
export type FieldType = ScalarType | readonly [FieldType] | { readonly [field: string]: FieldType };

export type ScalarType = "string" | "bool" | "int32" | "int64" | "uint32" | "float64" | "duration" | "durationOrNanoseconds" | "quantity";

const all = (type: FieldType, names: string): Readonly<Record<string, FieldType>> =>
  Object.fromEntries(names.split(/\s+/).map((name) => [name, type]));

const webhook = { enabled: "bool", cacheTTL: "duration" } as const;
const logOptions = { splitStream: "bool", infoBufferSize: "quantity" } as const;

/**
 * All fields of KubeletConfiguration (kubelet.config.k8s.io/v1beta1) in Kubernetes 1.34 to 1.37 (k8s.io/kubelet
 * v0.37.2; 1.36 added memoryReservationPolicy and tlsCurvePreferences, 1.37 defaultPodSysctls, and no field was
 * removed). A kubelet ignores a field that is newer than itself. `registerWithTaints` is not among them, because it is
 * refused.
 */
export const KUBELET_FIELDS: Readonly<Record<string, FieldType>> = {
  ...all(
    "string",
    `apiVersion kind address cgroupDriver cgroupRoot clusterDomain configMapAndSecretChangeDetectionStrategy
    containerLogMaxSize containerRuntimeEndpoint contentType cpuManagerPolicy hairpinMode healthzBindAddress
    imagePullCredentialsVerificationPolicy imageServiceEndpoint kubeReservedCgroup kubeletCgroups memoryManagerPolicy
    memoryReservationPolicy podCIDR podLogsDir providerID reservedSystemCPUs resolvConf showHiddenMetricsForVersion
    staticPodPath staticPodURL systemCgroups systemReservedCgroup tlsCertFile tlsMinVersion tlsPrivateKeyFile
    topologyManagerPolicy topologyManagerScope volumePluginDir`,
  ),
  ...all(
    "bool",
    `cgroupsPerQOS cpuCFSQuota enableContentionProfiling enableControllerAttachDetach enableDebugFlagsHandler
    enableDebuggingHandlers enableProfilingHandler enableServer enableSystemLogHandler enableSystemLogQuery failCgroupV1
    failSwapOn kernelMemcgNotification localStorageCapacityIsolation makeIPTablesUtilChains mergeDefaultEvictionSettings
    protectKernelDefaults registerNode rotateCertificates runOnce seccompDefault serializeImagePulls serverTLSBootstrap
    singleProcessOOMKill`,
  ),
  ...all(
    "int32",
    `containerLogMaxFiles containerLogMaxWorkers eventBurst eventRecordQPS evictionMaxPodGracePeriod healthzPort
    imageGCHighThresholdPercent imageGCLowThresholdPercent iptablesDropBit iptablesMasqueradeBit kubeAPIBurst kubeAPIQPS
    maxParallelImagePulls maxPods nodeLeaseDurationSeconds nodeStatusMaxImages oomScoreAdj podsPerCore port readOnlyPort
    registryBurst registryPullQPS`,
  ),
  ...all("int64", "maxOpenFiles podPidsLimit"),
  memoryThrottlingFactor: "float64",
  ...all(
    "duration",
    `containerLogMonitorInterval cpuCFSQuotaPeriod cpuManagerReconcilePeriod evictionPressureTransitionPeriod
    fileCheckFrequency httpCheckFrequency imageMaximumGCAge imageMinimumGCAge nodeStatusReportFrequency
    nodeStatusUpdateFrequency runtimeRequestTimeout shutdownGracePeriod shutdownGracePeriodCriticalPods
    streamingConnectionIdleTimeout syncFrequency volumeStatsAggPeriod`,
  ),
  ...all(["string"], "allowedUnsafeSysctls clusterDNS enforceNodeAllocatable preloadedImagesVerificationAllowlist tlsCipherSuites"),
  tlsCurvePreferences: ["int32"],
  ...all(
    { "*": "string" },
    `cpuManagerPolicyOptions defaultPodSysctls evictionHard evictionMinimumReclaim evictionSoft evictionSoftGracePeriod
    kubeReserved qosReserved systemReserved topologyManagerPolicyOptions`,
  ),
  featureGates: { "*": "bool" },
  staticPodURLHeader: { "*": ["string"] },
  authentication: { x509: { clientCAFile: "string" }, webhook, anonymous: { enabled: "bool" } },
  authorization: { mode: "string", webhook: { cacheAuthorizedTTL: "duration", cacheUnauthorizedTTL: "duration" } },
  crashLoopBackOff: { maxContainerRestartPeriod: "duration" },
  logging: {
    format: "string",
    flushFrequency: "durationOrNanoseconds",
    verbosity: "uint32",
    vmodule: [{ filePattern: "string", verbosity: "uint32" }],
    options: { text: logOptions, json: logOptions },
  },
  memorySwap: { swapBehavior: "string" },
  reservedMemory: [{ numaNode: "int32", limits: { "*": "quantity" } }],
  shutdownGracePeriodByPodPriority: [{ priority: "int32", shutdownGracePeriodSeconds: "int64" }],
  tracing: { endpoint: "string", samplingRatePerMillion: "int32" },
  userNamespaces: { idsPerPod: "int64" },
};

/** The fields that every family but Custom can set; AL2023 can set all of KUBELET_FIELDS. */
export const COMMON_KUBELET_FIELDS: ReadonlySet<string> = new Set([
  ...["clusterDNS", "maxPods", "podsPerCore", "systemReserved", "kubeReserved", "evictionHard", "evictionSoft"],
  ...["evictionSoftGracePeriod", "evictionMaxPodGracePeriod", "imageGCHighThresholdPercent", "imageGCLowThresholdPercent"],
  "cpuCFSQuota",
]);
