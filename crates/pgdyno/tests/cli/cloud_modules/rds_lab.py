"""Makes the resources of the module rds, for two labs, in the emulator of AWS that AWS_ENDPOINT_URL names."""

import datetime
import sys

import boto3

REGION = "eu-central-1"


def tags(lab):
    values = {"Name": f"pgdyno-{lab}-16vcpu", "pgdyno-lab": lab, "pgdyno-expires": "1800000000"}
    return [{"Key": key, "Value": value} for key, value in values.items()]


def make(lab):
    ec2, rds = boto3.client("ec2", REGION), boto3.client("rds", REGION)
    name = f"pgdyno-{lab}-16vcpu"
    tagged = lambda kind: [{"ResourceType": kind, "Tags": tags(lab)}]
    vpc = ec2.create_vpc(CidrBlock="10.13.0.0/16", TagSpecifications=tagged("vpc"))["Vpc"]["VpcId"]
    gateway = ec2.create_internet_gateway(TagSpecifications=tagged("internet-gateway"))["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    subnets = [
        ec2.create_subnet(
            VpcId=vpc, CidrBlock=f"10.13.{nth}.0/24", AvailabilityZone=REGION + zone, TagSpecifications=tagged("subnet")
        )["Subnet"]["SubnetId"]
        for nth, zone in enumerate("ab")
    ]
    ec2.create_route_table(VpcId=vpc, TagSpecifications=tagged("route-table"))
    driver, server = (
        ec2.create_security_group(
            GroupName=f"{name}-{part}", Description=part, VpcId=vpc, TagSpecifications=tagged("security-group")
        )["GroupId"]
        for part in ("driver", "server")
    )
    rule = {"IpProtocol": "tcp", "FromPort": 5432, "ToPort": 5432, "UserIdGroupPairs": [{"GroupId": driver}]}
    ec2.authorize_security_group_ingress(GroupId=server, IpPermissions=[rule])
    about = f"pgdyno lab {lab}"
    rds.create_db_subnet_group(DBSubnetGroupName=name, DBSubnetGroupDescription=about, SubnetIds=subnets)
    rds.create_db_parameter_group(DBParameterGroupName=name, DBParameterGroupFamily="postgres17", Description=about)
    rds.create_db_instance(
        DBInstanceIdentifier=name,
        DBInstanceClass="db.r6i.4xlarge",
        Engine="postgres",
        MasterUsername="pgdyno",
        MasterUserPassword="of-the-emulator",
        AllocatedStorage=100,
        DBSubnetGroupName=name,
        DBParameterGroupName=name,
        VpcSecurityGroupIds=[server],
        Tags=tags(lab),
    )
    ec2.run_instances(
        ImageId="ami-12c6146b",
        InstanceType="m6i.8xlarge",
        MinCount=1,
        MaxCount=1,
        SubnetId=subnets[0],
        SecurityGroupIds=[driver],
        TagSpecifications=tagged("instance"),
    )


for each in sys.argv[1:]:
    make(each)

# Three minutes of the first lab's server in the monitoring.
monitoring = boto3.client("cloudwatch", region_name="eu-central-1")
for minute in range(3):
    of = [{"Name": "DBInstanceIdentifier", "Value": f"pgdyno-{sys.argv[1]}"}]
    at = datetime.datetime(2026, 11, 25, 10, minute, tzinfo=datetime.timezone.utc)
    point = {"MetricName": "CPUUtilization", "Dimensions": of, "Timestamp": at, "Value": 90.0}
    monitoring.put_metric_data(Namespace="AWS/RDS", MetricData=[point])
