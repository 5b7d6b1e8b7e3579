# karpenter-serverless by Terraform: the template that the program writes, deployed as a CloudFormation stack.
#
#   npm i karpenter-serverless-VERSION.tgz
#   npx karpenter-serverless synth --clusters my-cluster --assets-bucket my-bucket --region us-west-2
#   terraform init && terraform apply -var bucket=my-bucket
#   npx karpenter-serverless manifests --cluster my-cluster --stack karpenter-serverless --region us-west-2 | kubectl apply -f -
#
# The bucket is one of yours, in the stack's region, and the one that synth was told. After an update of the package, or
# of the settings, run synth again, then terraform.

terraform {
  required_version = ">= 1.5"
  required_providers {
    aws     = { source = "hashicorp/aws", version = ">= 5.0" }
    archive = { source = "hashicorp/archive", version = ">= 2.4" }
  }
}

variable "bucket" {
  description = "S3 bucket for the functions' code and the template"
  type        = string
}

variable "stack_name" {
  description = "The stack's name, as synth was told with --stack"
  type        = string
  default     = "karpenter-serverless"
}

variable "synthesized" {
  description = "The folder that synth has written"
  type        = string
  default     = "cdk.out"
}

locals {
  manifest = jsondecode(file("${var.synthesized}/${var.stack_name}.assets.json"))
  # Keys are hashes of contents, so what has changed has another key.
  files = {
    for id, file in local.manifest.files : id => {
      path   = "${var.synthesized}/${file.source.path}"
      is_zip = file.source.packaging == "zip"
      key    = values(file.destinations)[0].objectKey
    }
  }
  template_key = one([for id, file in local.files : file.key if endswith(file.path, ".template.json")])
}

data "archive_file" "code" {
  for_each    = { for id, file in local.files : id => file if file.is_zip }
  type        = "zip"
  source_dir  = each.value.path
  output_path = "${var.synthesized}/${each.key}.zip"
}

resource "aws_s3_object" "code" {
  for_each = local.files
  bucket   = var.bucket
  key      = each.value.key
  source   = each.value.is_zip ? data.archive_file.code[each.key].output_path : each.value.path
}

data "aws_s3_bucket" "code" {
  bucket = var.bucket
}

resource "aws_cloudformation_stack" "karpenter_serverless" {
  name         = var.stack_name
  template_url = "https://${data.aws_s3_bucket.code.bucket_regional_domain_name}/${local.template_key}"
  capabilities = ["CAPABILITY_NAMED_IAM"]
  depends_on   = [aws_s3_object.code]
}

# Among others NotifyUrl, InterruptionQueueArn, TableName and the functions' roles.
output "outputs" {
  value = aws_cloudformation_stack.karpenter_serverless.outputs
}
