//! Expression trees of the parser, and their translation into steps. Nodes are in one vector and refer to each other
//! by index: no function here is recursive, however deep an expression is.

use pgdyno_workload::Rng;

use crate::calls::World;
use crate::code::{Expr, Op};
use crate::functions::Fun;
use crate::{Slot, Value};

/// Limit of evaluated arguments.
const MAX_ARGUMENTS: usize = 16;

/// A node of a [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeId(u32);

#[derive(Clone, Copy, Debug)]
enum Node {
    Const(Value),
    Load(Slot),
    /// Arguments are a range of `Tree::lists`.
    Call(Fun, List),
    And(NodeId, NodeId),
    Or(NodeId, NodeId),
    /// Condition, value, condition, value, …, otherwise.
    Case(List),
}

#[derive(Clone, Copy, Debug)]
struct List {
    start: u32,
    end: u32,
}

/// An expression that is being parsed.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    lists: Vec<NodeId>,
}

fn index(length: usize) -> u32 {
    u32::try_from(length).expect("an expression has fewer nodes than bytes, and a script fewer than 4 GiB")
}

impl Tree {
    fn add(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        NodeId(index(self.nodes.len() - 1))
    }

    fn list(&mut self, items: &[NodeId]) -> List {
        let start = index(self.lists.len());
        self.lists.extend_from_slice(items);
        List { start, end: index(self.lists.len()) }
    }

    fn items(&self, list: List) -> &[NodeId] {
        &self.lists[list.start as usize..list.end as usize]
    }

    pub(crate) fn constant(&mut self, value: Value) -> NodeId {
        self.add(Node::Const(value))
    }

    pub(crate) fn load(&mut self, slot: Slot) -> NodeId {
        self.add(Node::Load(slot))
    }

    pub(crate) fn and(&mut self, left: NodeId, right: NodeId) -> NodeId {
        self.add(Node::And(left, right))
    }

    pub(crate) fn or(&mut self, left: NodeId, right: NodeId) -> NodeId {
        self.add(Node::Or(left, right))
    }

    /// Adds a CASE; `items` are condition, value, condition, value, …, otherwise.
    pub(crate) fn case(&mut self, items: &[NodeId]) -> NodeId {
        let list = self.list(items);
        self.add(Node::Case(list))
    }

    /// Adds a call; as its value already if that can neither fail nor change from one evaluation to the next.
    pub(crate) fn call(&mut self, fun: Fun, args: &[NodeId]) -> NodeId {
        if fun.is_pure() && args.len() <= MAX_ARGUMENTS {
            let values: Option<Vec<Value>> = args.iter().map(|id| self.as_constant(*id)).collect();
            let mut world = World { rng: &mut Rng::new(0), debug: &mut |_| {} };
            if let Some(Ok(value)) = values.map(|values| fun.apply(&values, &mut world)) {
                return self.constant(value);
            }
        }
        let list = self.list(args);
        self.add(Node::Call(fun, list))
    }

    fn as_constant(&self, id: NodeId) -> Option<Value> {
        match self.nodes[id.0 as usize] {
            Node::Const(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the steps that evaluate `root`.
    pub(crate) fn compile(&self, root: NodeId) -> Expr {
        let mut ops = Vec::new();
        // Steps with an unknown target, innermost last.
        let mut open: Vec<usize> = Vec::new();
        let mut work = vec![Work::Visit(root)];
        while let Some(next) = work.pop() {
            match next {
                Work::Visit(id) => self.visit(id, &mut work),
                Work::Emit(op) => ops.push(op),
                Work::Open(op) => {
                    open.push(ops.len());
                    ops.push(op);
                }
                Work::Close => close(&mut ops, open.pop()),
                Work::Otherwise => {
                    let condition = open.pop();
                    open.push(ops.len());
                    ops.push(Op::Jump(0));
                    close(&mut ops, condition);
                }
            }
        }
        Expr::new(ops)
    }

    /// Pushes the parts of a node onto the work list, last first.
    fn visit(&self, id: NodeId, work: &mut Vec<Work>) {
        match self.nodes[id.0 as usize] {
            Node::Const(value) => work.push(Work::Emit(Op::Const(value))),
            Node::Load(slot) => work.push(Work::Emit(Op::Load(slot))),
            Node::Call(fun, list) => {
                let args = self.items(list);
                if let [a, b] = *args {
                    // An integer of the script needs no step of its own.
                    let (op, other) = match (self.as_constant(a), self.as_constant(b)) {
                        (Some(Value::Int(a)), _) => (Op::Left(fun, a), b),
                        (_, Some(Value::Int(b))) => (Op::Right(fun, b), a),
                        _ => (Op::Call(fun, 2), a),
                    };
                    work.push(Work::Emit(op));
                    if matches!(op, Op::Call(..)) {
                        work.push(Work::Visit(b));
                    }
                    work.push(Work::Visit(other));
                    return;
                }
                work.push(Work::Emit(match u8::try_from(args.len()) {
                    Ok(n) if args.len() <= MAX_ARGUMENTS => Op::Call(fun, n),
                    _ => Op::TooManyArguments,
                }));
                work.extend(args.iter().take(MAX_ARGUMENTS).rev().map(|arg| Work::Visit(*arg)));
            }
            Node::And(left, right) => work.extend(logical(Op::And(0), left, right)),
            Node::Or(left, right) => work.extend(logical(Op::Or(0), left, right)),
            Node::Case(list) => {
                let items = self.items(list);
                let (branches, otherwise) = items.split_at(items.len() - 1);
                work.extend(branches.iter().step_by(2).map(|_| Work::Close));
                work.extend(otherwise.iter().map(|id| Work::Visit(*id)));
                for branch in branches.chunks(2).rev() {
                    work.push(Work::Otherwise);
                    work.push(Work::Visit(branch[1]));
                    work.push(Work::Open(Op::Unless(0)));
                    work.push(Work::Visit(branch[0]));
                }
            }
        }
    }
}

enum Work {
    Visit(NodeId),
    Emit(Op),
    /// Emits a step that jumps to the matching `Close`.
    Open(Op),
    Close,
    /// Ends a branch of CASE: jumps to the end, and sets the target of the condition's jump.
    Otherwise,
}

fn logical(op: Op, left: NodeId, right: NodeId) -> [Work; 5] {
    [Work::Close, Work::Emit(Op::Logical), Work::Visit(right), Work::Open(op), Work::Visit(left)]
}

/// Sets the target of the jump at `from` to the end of the steps so far.
fn close(ops: &mut [Op], from: Option<usize>) {
    let end = index(ops.len());
    if let Some(Op::And(target) | Op::Or(target) | Op::Unless(target) | Op::Jump(target)) =
        from.map(|from| &mut ops[from])
    {
        *target = end;
    }
}
