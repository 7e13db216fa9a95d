//! What a run needs before it measures: directories, runtimes, a plan; and the notes it owes the user.

use super::arguments::{Arguments, Scenario};
use super::directories::Directories;
use super::disk;
use super::failure::Failure;
use super::host::{self, Host};
use super::interrupt::Interrupt;
use super::progress::Progress;
use super::runtime::peer::PeerError;
use super::runtime::protocol::{Functions, Launch, Reply};
use super::runtime::{Engine, Row, Runtime, Way, jvm, node};
use super::schedule::Budget;
use std::path::PathBuf;
use std::time::Duration;

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    Quick,
    /// The cases that tell most.
    Core,
    All,
}

pub(crate) struct Plan {
    pub(crate) scenarios: Vec<Scenario>,
    pub(crate) extent: Extent,
}

/// A Node binary, with the package if it loads there.
pub(crate) struct Node {
    pub(crate) runtime: Runtime,
    pub(crate) package: Option<Package>,
}

pub(crate) struct Package {
    pub(crate) directory: PathBuf,
    pub(crate) load_ns: u64,
    /// Can it write durably?
    pub(crate) durable: bool,
}

pub(crate) struct Session<'a> {
    pub(crate) arguments: &'a Arguments,
    pub(crate) interrupt: Interrupt,
    pub(crate) plan: Plan,
    pub(crate) host: Host,
    pub(crate) directories: Directories,
    pub(crate) nodes: Vec<Node>,
    pub(crate) jvm: Option<Runtime>,
    /// Rows that are missing, and why.
    pub(crate) skips: Vec<String>,
    pub(crate) progress: Progress,
    pub(crate) random: fastrand::Rng,
    /// Of the scenario that is running, if the disk has no room for more.
    pub(crate) max_rounds: Option<usize>,
}

impl<'a> Session<'a> {
    pub(crate) fn open(arguments: &'a Arguments, interrupt: &Interrupt) -> Result<Self, Failure> {
        let host = Host::look(&arguments.dir)?;
        let tmpfs = host::tmpfs().filter(|_| host.file_system.kind != "tmpfs");
        let mut directories = Directories::make(&arguments.dir, tmpfs.as_deref())?;
        if arguments.disk != disk::REAL {
            directories.slow_down(&arguments.disk, interrupt)?;
        }
        let mut session = Self {
            arguments,
            interrupt: interrupt.clone(),
            plan: Plan::of(arguments),
            host,
            directories,
            nodes: Vec::new(),
            jvm: None,
            skips: Vec::new(),
            progress: Progress::new(),
            random: fastrand::Rng::with_seed(arguments.seed),
            max_rounds: None,
        };
        session.find_nodes()?;
        session.find_jvm()?;
        Ok(session)
    }

    pub(crate) fn close(self) -> Result<(), Failure> {
        self.directories.remove()
    }

    /// Only if a scenario has rows for it: it takes half a second to answer.
    fn find_jvm(&mut self) -> Result<(), Failure> {
        let has_rows = |scenario: &Scenario| {
            matches!(
                scenario,
                Scenario::Build
                    | Scenario::Sync
                    | Scenario::SyncMany
                    | Scenario::ReadMany
                    | Scenario::WriteMany
            )
        };
        if !self.plan.scenarios.iter().any(has_rows) {
            return Ok(());
        }
        match jvm::find(self.arguments.java.as_deref(), &self.interrupt)? {
            Ok(runtime) => self.jvm = Some(runtime),
            Err(reason) => self.leave_out(format!("rows in the JVM are left out: {reason}")),
        }
        Ok(())
    }

    fn find_nodes(&mut self) -> Result<(), Failure> {
        let arguments = self.arguments;
        let mut binaries = arguments.node.clone();
        if binaries.is_empty() {
            binaries.extend(node::on_path());
        }
        if binaries.is_empty() {
            self.skip(
                "Node.js rows are left out: no node on PATH (--node PATH names one)".to_owned(),
            )?;
        }
        let named =
            |engine, binaries: Vec<PathBuf>| binaries.into_iter().map(move |it| (engine, it));
        let binaries: Vec<(Engine, PathBuf)> = named(Engine::Node, binaries)
            .chain(named(Engine::Bun, arguments.bun.clone()))
            .chain(named(Engine::Deno, arguments.deno.clone()))
            .collect();
        if binaries.is_empty() {
            return Ok(());
        }
        let package = if self.arguments.no_smallfry {
            None
        } else {
            node::find_package(self.arguments.package.as_deref())
                .map_err(|reason| {
                    self.skip(format!("rows of smallfry on Node are left out: {reason}"))
                })
                .map_or_else(
                    |skipped| skipped.map(|()| None),
                    |directory| Ok(Some(directory)),
                )?
        };
        for (engine, binary) in binaries {
            let runtime = node::probe(engine, &binary, &self.interrupt)?;
            let package = match &package {
                Some(directory) => self.load(&runtime, directory.clone())?,
                None => None,
            };
            self.nodes.push(Node { runtime, package });
        }
        Ok(())
    }

    fn load(&mut self, runtime: &Runtime, directory: PathBuf) -> Result<Option<Package>, Failure> {
        match node::load(runtime, &directory, &self.interrupt)? {
            Ok((load_ns, durable)) => Ok(Some(Package {
                directory,
                load_ns,
                durable,
            })),
            Err(reason) => {
                let version = runtime.name();
                self.skip(format!(
                    "rows of smallfry on {version} are left out: {} does not load: {reason}",
                    directory.display()
                ))?;
                Ok(None)
            }
        }
    }

    /// A missing runtime is a note for a user, an error in continuous integration.
    pub(crate) fn skip(&mut self, reason: String) -> Result<(), Failure> {
        if std::env::var_os("CI").is_some_and(|ci| ci == "true") {
            return Err(Failure::Said(reason));
        }
        eprintln!("note: {reason}");
        self.skips.push(reason);
        Ok(())
    }

    /// Is what went wrong the row's own failure? An interrupt, and a directory that is unfit for all rows, stop the run.
    pub(crate) fn judge(
        &self,
        answer: Result<Reply, PeerError>,
    ) -> Result<Result<Reply, PeerError>, Failure> {
        self.interrupt.check()?;
        match answer {
            Err(PeerError::Failed(failure)) if failure.is_the_directory() => {
                Err(Failure::said(failure.to_string()))
            }
            answer => Ok(answer),
        }
    }

    /// What is measured, in words: `the disk as it is`, or `the slow disk hdd`.
    pub(crate) fn disk_words(&self) -> String {
        match self.directories.profile() {
            None => "the disk as it is".to_owned(),
            Some(profile) => format!("the slow disk {profile} (simulated)"),
        }
    }

    /// Does it measure a tenth of the files only? On a slow disk all of them would take half an hour.
    pub(crate) fn has_fewer_files(&self) -> bool {
        let given = self.arguments.files.is_some();
        self.directories.profile().is_some() && self.plan.extent != Extent::Quick && !given
    }

    /// How many files a case of `usual` many has: as the user says, else as the disk is fit for.
    pub(crate) fn files(&self, usual: usize) -> usize {
        match self.arguments.files {
            Some(given) => given as usize,
            None if self.has_fewer_files() => usual.div_ceil(10),
            None => usual,
        }
    }

    /// A row that is missing in this build, by choice.
    pub(crate) fn leave_out(&mut self, reason: String) {
        if !self.skips.contains(&reason) {
            self.skips.push(reason);
        }
    }

    pub(crate) fn budget(&self, scenario: Scenario) -> Budget {
        self.plan.budget(self.arguments, scenario)
    }

    /// A row of `node` with the given functions.
    pub(crate) fn row(
        &self,
        node: &Node,
        functions: Functions,
        implementation: &str,
        way: impl Into<Way>,
    ) -> Row {
        let package = node
            .package
            .as_ref()
            .filter(|_| functions == Functions::Smallfry);
        let package = match functions.npm_peer() {
            Some(_) => node::npm_peer(functions),
            None => package.map(|package| package.directory.clone()),
        };
        let package = package.map(|directory| directory.display().to_string());
        let name = node.runtime.name();
        let label = match (self.nodes.len(), &node.runtime) {
            (
                _,
                Runtime::Node {
                    engine: Engine::Bun | Engine::Deno,
                    ..
                },
            ) => format!("{name} {}", implementation.trim_start_matches("Node ")),
            (1, _) => implementation.to_owned(),
            _ => format!("{name} {implementation}"),
        };
        Row {
            runtime: node.runtime.clone(),
            launch: Launch {
                functions,
                package,
                warm_up: false,
                closing: None,
            },
            way: way.into(),
            implementation: implementation.to_owned(),
            label,
        }
    }

    /// A row in the JVM, if there is one.
    pub(crate) fn jvm_row(
        &self,
        functions: Functions,
        implementation: &str,
        way: impl Into<Way>,
    ) -> Option<Row> {
        let mut row = Self::native_row(functions, implementation, way);
        row.runtime = self.jvm.clone()?;
        row.launch.warm_up = true;
        Some(row)
    }

    pub(crate) fn native_row(
        functions: Functions,
        implementation: &str,
        way: impl Into<Way>,
    ) -> Row {
        Row {
            runtime: Runtime::Native,
            launch: Launch {
                functions,
                package: None,
                warm_up: false,
                closing: None,
            },
            way: way.into(),
            implementation: implementation.to_owned(),
            label: implementation.to_owned(),
        }
    }
}

impl Plan {
    fn of(arguments: &Arguments) -> Self {
        let extent = match (arguments.quick, arguments.all) {
            (true, _) => Extent::Quick,
            (_, true) => Extent::All,
            _ => Extent::Core,
        };
        Self {
            scenarios: arguments.scenarios(),
            extent,
        }
    }

    fn budget(&self, arguments: &Arguments, scenario: Scenario) -> Budget {
        if let Some(rounds) = arguments.runs {
            return Budget::Rounds(rounds as usize);
        }
        // Those that do not run unasked have more cases and rows than a minute has time for.
        let share = |scenario| match scenario {
            Scenario::Build => 35.0,
            Scenario::WriteString => 20.0,
            Scenario::ReadMany | Scenario::WriteMany | Scenario::Close => 150.0,
            Scenario::Scale => 200.0,
            Scenario::Sync => 120.0,
            Scenario::SyncMany => 240.0,
            Scenario::PackageScope => 480.0,
        };
        let unasked = [Scenario::Build, Scenario::WriteString];
        let seconds = match (arguments.seconds, self.extent) {
            (Some(seconds), _) => {
                let whole: f64 = self.scenarios.iter().copied().map(share).sum();
                f64::from(seconds) * share(scenario) / whole
            }
            (None, Extent::Quick) => return Budget::Rounds(2),
            // A thousand writes in all.
            (None, _) if scenario == Scenario::Sync => return Budget::Rounds(10),
            (None, Extent::Core) if unasked.contains(&scenario) => {
                let among = unasked
                    .into_iter()
                    .filter(|one| self.scenarios.contains(one));
                55.0 * share(scenario) / among.map(share).sum::<f64>()
            }
            (None, Extent::Core) => share(scenario),
            (None, Extent::All) => {
                return Budget::Rounds(match scenario {
                    Scenario::Build | Scenario::WriteString => 12,
                    Scenario::ReadMany | Scenario::WriteMany | Scenario::Close => 6,
                    Scenario::Scale | Scenario::SyncMany => 4,
                    Scenario::PackageScope => 8,
                    Scenario::Sync => 10,
                });
            }
        };
        Budget::Time(Duration::from_secs_f64(seconds))
    }
}
