//! What `pgdyno cloud` prints as JSON.

use std::collections::BTreeMap;

use pgdyno_cloud::{Lab, LabFile, LabStep, Module, Money};
use pgdyno_life::failure::Result;
use pgdyno_report::forms::{
    CloudModuleForm, CloudModulesForm, CloudPlanForm, FORMAT_VERSION, LabForm, LabSizeForm, LabsForm, MoneyForm,
    PlannedSizeForm, VerifiedForm,
};
use serde::Serialize;
use serde_json::Value;

use super::screens;

/// Returns the modules.
pub(super) fn modules() -> Result<CloudModulesForm> {
    let modules = Module::all()?.values().map(module).collect();
    Ok(CloudModulesForm { format_version: FORMAT_VERSION, modules })
}

/// Returns what a lab would create.
pub(super) fn plan(file: &LabFile, ttl_s: f64) -> CloudPlanForm {
    let sizes = file.sizes.iter().map(|size| PlannedSizeForm {
        name: size.name.clone(),
        price_per_hour: size.price_per_hour,
        variables: variables(&size.variables),
    });
    CloudPlanForm {
        format_version: FORMAT_VERSION,
        lab: file.name.clone(),
        module: module(file.module),
        runs: screens::work(&file.work),
        parallel: file.parallel,
        ttl_s,
        bound: file.bound(ttl_s).map(money),
        variables: variables(&file.variables),
        sizes: sizes.collect(),
    }
}

/// Returns how far labs are.
pub(super) fn labs(labs: &[Lab]) -> Result<LabsForm> {
    let labs = labs.iter().map(lab).collect::<Result<_>>()?;
    Ok(LabsForm { format_version: FORMAT_VERSION, labs })
}

fn lab(lab: &Lab) -> Result<LabForm> {
    let standings = lab.standings()?;
    let pid = lab.holder();
    let size = |name: &String| {
        let standing = standings.get(name);
        LabSizeForm {
            name: name.clone(),
            step: standing.and_then(|it| it.step).unwrap_or(LabStep::Planned).word().to_owned(),
            failure: standing.and_then(|it| it.failure.clone()),
        }
    };
    Ok(LabForm {
        name: lab.file.name.clone(),
        state: screens::state(lab.is_closed()?, pid).to_owned(),
        pid,
        module: lab.file.module.name.clone(),
        verified: verified(lab.file.module),
        cost: lab.cost()?.map(money),
        bound: lab.cost_bound()?.map(money),
        left_s: lab.left_s()?,
        sizes: lab.file.sizes.iter().map(|it| size(&it.name)).collect(),
        runs: lab.runs()?,
    })
}

fn module(module: &Module) -> CloudModuleForm {
    CloudModuleForm {
        name: module.name.clone(),
        title: module.title.clone(),
        creates: module.creates.clone(),
        verified: verified(module),
        cli: Some(module.cli.clone()).filter(|cli| !cli.is_empty()),
        recipes: module.guide.clone(),
    }
}

fn verified(module: &Module) -> VerifiedForm {
    let levels = &module.verified;
    VerifiedForm {
        schema: levels.schema.clone(),
        mock: levels.mock.clone(),
        emulator: levels.emulator.clone(),
        real_cloud: levels.real_cloud.clone(),
    }
}

fn money(money: Money) -> MoneyForm {
    MoneyForm { amount: money.amount, currency: money.currency }
}

fn variables<'a, V: Serialize + 'a>(table: impl IntoIterator<Item = (&'a String, &'a V)>) -> BTreeMap<String, Value> {
    let json = |value: &V| serde_json::to_value(value).unwrap_or_default();
    table.into_iter().map(|(name, value)| (name.clone(), json(value))).collect()
}
