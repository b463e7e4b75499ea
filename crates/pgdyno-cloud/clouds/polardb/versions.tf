# Ephemeral variables came with 1.11, in Terraform and in OpenTofu.
terraform {
  required_version = ">= 1.11"
  required_providers {
    alicloud = {
      source  = "aliyun/alicloud"
      version = "~> 1.250"
    }
  }
}

provider "alicloud" {
  region = var.region
}
