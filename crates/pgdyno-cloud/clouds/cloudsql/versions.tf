# Ephemeral variables and write-only arguments came with 1.11, in Terraform and in OpenTofu.
terraform {
  required_version = ">= 1.11"
  required_providers {
    google = {
      source  = "hashicorp/google"
      version = "~> 7.0"
    }
  }
}

provider "google" {
  project        = var.project
  region         = var.region
  zone           = var.zone
  default_labels = local.labels
}
