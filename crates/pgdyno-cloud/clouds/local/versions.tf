# Ephemeral variables came with 1.11, in Terraform and in OpenTofu. No provider is needed but the engine's own.
terraform {
  required_version = ">= 1.11"
}
