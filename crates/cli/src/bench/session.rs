//! The needs of every scenario: the options, the directories, the runtimes, and notes for the user.

use super::directories::Directories;
use super::disk;
use super::options::{Extent, Options};
use super::runtime::node::{self, Package};
use super::runtime::protocol::Functions;
use super::runtime::{Kind, Row, Runtime, Way, jvm};
use super::schedule::Budget;
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::output::progress::Progress;
use crate::process::interrupt::Interrupt;
use std::cell::RefCell;
use std::path::Path;

/// A Node binary, and the package if it loads there.
pub(crate) struct Node {
    pub(crate) runtime: Runtime,
    pub(crate) package: Option<Package>,
}

pub(crate) struct Session {
    pub(crate) options: Options,
    pub(crate) extent: Extent,
    pub(crate) interrupt: Interrupt,
    pub(crate) host: Host,
    pub(crate) directories: Directories,
    pub(crate) nodes: Vec<Node>,
    pub(crate) jvm: Option<Runtime>,
    /// The rows that are missing, and why.
    pub(crate) skips: RefCell<Vec<String>>,
    pub(crate) progress: Progress,
    pub(crate) random: fastrand::Rng,
    /// True if the user has named scenarios.
    pub(crate) is_named: bool,
    /// The budget of the scenario that is running.
    pub(crate) budget: Budget,
}

impl Session {
    /// Finds the runtimes, and makes the directories. `script` is what rows under Node run.
    pub(crate) fn open(
        options: &Options,
        script: &str,
        needs_jvm: bool,
        interrupt: &Interrupt,
    ) -> Result<Self, Failure> {
        let host = Host::look(&options.dir)?;
        let tmpfs = host::tmpfs().filter(|_| host.file_system.kind != "tmpfs");
        let mut directories = Directories::make(&options.dir, tmpfs.as_deref())?;
        if options.disk != disk::REAL {
            directories.slow_down(&options.disk, interrupt)?;
        }
        let mut session = Self {
            options: options.clone(),
            extent: options.extent(),
            interrupt: interrupt.clone(),
            host,
            directories,
            nodes: Vec::new(),
            jvm: None,
            skips: RefCell::default(),
            progress: Progress::new(),
            random: fastrand::Rng::with_seed(options.seed),
            is_named: false,
            budget: Budget::Rounds(1),
        };
        session.find_nodes(script)?;
        // The JVM takes half a second to answer.
        if needs_jvm {
            match jvm::find(options.java.as_deref(), interrupt)? {
                Ok(runtime) => session.jvm = Some(runtime),
                Err(why) => session.leave_out(format!("rows in the JVM are left out: {why}")),
            }
        }
        Ok(session)
    }

    fn find_nodes(&mut self, script: &str) -> Result<(), Failure> {
        let options = self.options.clone();
        let mut nodes = options.node;
        if nodes.is_empty() {
            nodes.extend(which::which("node"));
        }
        if nodes.is_empty() {
            self.skip("Node.js rows are left out: no node on PATH (--node PATH names one)")?;
        }
        let engines = [
            (Kind::Node, nodes),
            (Kind::Bun, options.bun),
            (Kind::Deno, options.deno),
        ];
        let mut package = None;
        if !options.no_smallfry && engines.iter().any(|(_, binaries)| !binaries.is_empty()) {
            let found = node::find_package(options.package.as_deref());
            package = self.smallfry_on("Node", found)?;
        }
        for (kind, binaries) in engines {
            for binary in binaries {
                let runtime = node::probe(kind, &binary, script, &self.interrupt)?;
                let loaded = package.as_deref().map(|it| self.load(&runtime, it));
                let package = loaded.transpose()?.flatten();
                self.nodes.push(Node { runtime, package });
            }
        }
        Ok(())
    }

    fn load(&mut self, runtime: &Runtime, package: &Path) -> Result<Option<Package>, Failure> {
        let loaded = node::load(runtime, package, &self.interrupt)?;
        let package = package.display();
        let loaded = loaded.map_err(|reason| format!("{package} does not load: {reason}"));
        self.smallfry_on(runtime.name(), loaded)
    }

    /// Returns smallfry if it was found there, else notes that its rows are left out.
    fn smallfry_on<T>(&mut self, place: &str, it: Result<T, String>) -> Result<Option<T>, Failure> {
        if let Err(reason) = &it {
            let what = format!("rows of smallfry on {place}");
            self.skip(format!("{what} are left out: {reason}"))?;
        }
        Ok(it.ok())
    }

    /// Notes a missing runtime for the user; in continuous integration that is an error.
    pub(crate) fn skip(&mut self, reason: impl Into<String>) -> Result<(), Failure> {
        let reason = reason.into();
        if std::env::var_os("CI").is_some_and(|ci| ci == "true") {
            return Err(Failure::Said(reason));
        }
        eprintln!("note: {reason}");
        self.leave_out(reason);
        Ok(())
    }

    /// Names the disk in words: `the disk as it is`, or `the slow disk hdd (simulated)`.
    pub(crate) fn disk_words(&self) -> String {
        match self.directories.profile() {
            None => "the disk as it is".to_owned(),
            Some(profile) => format!("the slow disk {profile} (simulated)"),
        }
    }

    /// Returns true if cases have a tenth of the files: on a slow disk all of them would take half
    /// an hour.
    pub(crate) fn has_fewer_files(&self) -> bool {
        let given = self.options.files.is_some();
        self.directories.profile().is_some() && self.extent != Extent::Quick && !given
    }

    /// Returns how many files a case of usually `usual` files has here.
    pub(crate) fn files(&self, usual: usize) -> usize {
        match self.options.files {
            Some(given) => given as usize,
            None if self.has_fewer_files() => usual.div_ceil(10),
            None => usual,
        }
    }

    /// Returns how many bytes a file of usually `usual` bytes has here.
    pub(crate) fn bytes(&self, usual: usize) -> usize {
        self.options.size.map_or(usual, |given| given as usize)
    }

    /// Notes a row that is missing in this build.
    pub(crate) fn leave_out(&self, reason: String) {
        let mut skips = self.skips.borrow_mut();
        if !skips.contains(&reason) {
            skips.push(reason);
        }
    }

    /// Returns a row under `node`.
    pub(crate) fn row(
        &self,
        node: &Node,
        functions: Functions,
        implementation: &str,
        way: impl Into<Way>,
    ) -> Row {
        let package = match functions {
            Functions::Smallfry => node.package.as_ref().map(|it| it.directory.clone()),
            _ => node::npm_peer(functions),
        };
        let mut row = Row::native(functions, implementation, way);
        row.runtime = node.runtime.clone();
        row.launch.package = package.map(|directory| directory.display().to_string());
        let is_node = node.runtime.kind == Kind::Node;
        if !is_node || self.nodes.len() > 1 {
            let other = implementation.strip_prefix("Node ").filter(|_| !is_node);
            let shown = other.unwrap_or(implementation);
            row.label = format!("{} {shown}", node.runtime.name());
        }
        row
    }

    /// Returns a row in the JVM, if there is one.
    pub(crate) fn jvm_row(
        &self,
        functions: Functions,
        implementation: &str,
        way: impl Into<Way>,
    ) -> Option<Row> {
        let mut row = Row::native(functions, implementation, way);
        row.runtime = self.jvm.clone()?;
        row.launch.warm_up = true;
        Some(row)
    }
}
