import { flag, text } from "#terminal/command-line.ts";

/** The arguments of `synth`, apart from what they are for, because the CDK takes a second to load. */
export const SYNTH_OPTIONS = {
  config: text("FILE", "settings file (docs/settings.md)"),
  clusters: text("NAMES", "the clusters, as in a,b, in place of a file"),
  sources: text("NAMES", "sources of wake-ups: audit, notify, sweep (notify,sweep)"),
  architecture: text("NAME", "arm64 or x86_64 (arm64)"),
  stack: text("NAME", "name of the CloudFormation stack (karpenter-serverless)"),
  ephemeral: flag("the table is deleted with the stack: for trials"),
  admission: flag("with the admission function, which refuses mistakes at kubectl apply and converts v1beta1"),
  scrape: flag("with the metrics function, which Prometheus and others scrape"),
  dashboard: flag("with a dashboard in CloudWatch"),
  "create-node-roles": flag("make the role KarpenterNodeRole-NAME of each cluster"),
  "assets-bucket": text("NAME", "an S3 bucket of yours for the functions' code, in place of that of cdk bootstrap"),
  "public-url": text("KIND", "functionUrl, apiGateway, restApi or none (functionUrl)"),
  region: text("REGION", "the region, to refuse what it does not have; AWS_REGION when absent"),
  out: text("FOLDER", "where templates and code are written (cdk.out)"),
} as const;
