//! Which meshes of a model stand where: the node tree, flattened.
//!
//! Used before primitives are read. A glTF node has one parent at most; whatever breaks that, a
//! circle above all, is refused before anything is walked.

use super::{Wrong, is_full};
use glam::Mat4;
use gltf::{Document, Mesh, Node};
use std::collections::BTreeSet;

/// A mesh of a model and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Visit<'a> {
    pub(super) name: String,
    pub(super) mesh: Mesh<'a>,
    pub(super) placed: Mat4,
}

/// Every mesh that stands in the scene, in the order of the nodes' tree.
pub(super) fn visits<'a>(document: &'a Document, wrong: &mut Vec<Wrong>) -> Vec<Visit<'a>> {
    let mut children = BTreeSet::new();
    for node in document.nodes() {
        for child in node.children() {
            if !children.insert(child.index()) && !is_full(wrong) {
                let text = "a node with two parents";
                wrong.push(Wrong::new(format!("nodes[{}]", child.index()), text));
            }
        }
    }
    if let Some(circular) = circular(document) {
        let text = "cyclic nodes: this one is its own ancestor";
        wrong.push(Wrong::new(format!("nodes[{circular}]"), text).with("break the circle"));
    }
    if !wrong.is_empty() {
        return Vec::new();
    }
    let scene = document.default_scene().or_else(|| document.scenes().next());
    let roots: Vec<Node<'a>> = match scene {
        Some(scene) => scene.nodes().collect(),
        None => document.nodes().filter(|node| !children.contains(&node.index())).collect(),
    };
    let mut open: Vec<(Node<'a>, Mat4)> =
        roots.into_iter().rev().map(|node| (node, Mat4::IDENTITY)).collect();
    let mut visits = Vec::new();
    let mut seen = BTreeSet::new();
    while let Some((node, above)) = open.pop() {
        if !seen.insert(node.index()) {
            continue;
        }
        let placed = above * Mat4::from_cols_array_2d(&node.transform().matrix());
        if let Some(mesh) = node.mesh() {
            // What a skin moves stands where its bind pose says, wherever its node is.
            let placed = if node.skin().is_some() { Mat4::IDENTITY } else { placed };
            visits.push(Visit { name: name_of(&node, &mesh), mesh, placed });
        }
        let below: Vec<Node<'a>> = node.children().collect();
        open.extend(below.into_iter().rev().map(|child| (child, placed)));
    }
    visits
}

/// A node on a circle: peeling off nodes without open children leaves only circles and what hangs
/// above them; following any child from there ends on one.
fn circular(document: &Document) -> Option<usize> {
    let below: Vec<Vec<usize>> =
        document.nodes().map(|node| node.children().map(|child| child.index()).collect()).collect();
    let mut above: Vec<Vec<usize>> = vec![Vec::new(); below.len()];
    let mut open: Vec<usize> = below.iter().map(Vec::len).collect();
    for (parent, children) in below.iter().enumerate() {
        children.iter().for_each(|child| above[*child].push(parent));
    }
    let mut peeled: Vec<usize> = (0..below.len()).filter(|at| open[*at] == 0).collect();
    while let Some(node) = peeled.pop() {
        for parent in &above[node] {
            open[*parent] -= 1;
            if open[*parent] == 0 {
                peeled.push(*parent);
            }
        }
    }
    let mut at = (0..below.len()).find(|at| open[*at] > 0)?;
    for _ in 0..below.len() {
        at = below[at].iter().copied().find(|child| open[*child] > 0)?;
    }
    Some(at)
}

/// The node's name, the mesh's, or its number; cut to what a mesh may hold.
fn name_of(node: &Node<'_>, mesh: &Mesh<'_>) -> String {
    let named = node.name().or_else(|| mesh.name()).filter(|name| !name.is_empty());
    let name = named.map_or_else(|| format!("node {}", node.index()), str::to_owned);
    super::surfaces::shortened(&name)
}
