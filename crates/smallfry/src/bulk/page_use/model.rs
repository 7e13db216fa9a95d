//! Every way in which slots can be given up while others are cut, explored by loom: no page goes back to the system while a
//! slot on it is looked at, or before the last look into it is over. Run by `make test-model`.

use std::sync::{Arc, Mutex};

use loom::cell::UnsafeCell;
use loom::thread;

use super::*;

const PAGES: usize = 4;
/// So small that all of them are few: whoever gives one up gives pages back, also those that another has just left.
const SLOT: usize = 64;

/// A mapping.
struct Place {
    residents: PageUse<PAGES>,
    /// What a page holds. Giving it back is a look of its own: loom reports one that does not come after those of slots.
    contents: [UnsafeCell<u8>; PAGES],
    released: Mutex<Vec<usize>>,
}

// SAFETY: loom finds out whether cells are looked at without order.
unsafe impl Sync for Place {}
// SAFETY: as above.
unsafe impl Send for Place {}

impl Place {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            residents: PageUse::new(),
            contents: std::array::from_fn(|_| UnsafeCell::new(0)),
            released: Mutex::default(),
        })
    }

    /// Looks into the slot on this page, and gives it up.
    fn use_up(&self, page: usize) {
        self.contents[page].with_mut(|_| ());
        self.give_up(page * PAGE, SLOT);
    }

    fn give_up(&self, offset: usize, size: usize) {
        self.residents
            .remove(offset, size, |pages| self.release(pages));
    }

    fn fill(&self) {
        self.residents.fill(|pages| self.release(pages));
    }

    fn release(&self, pages: Range<usize>) {
        for page in pages {
            // Twice by two threads is once to the system, so a shared look.
            self.contents[page].with(|_| ());
            self.released.lock().unwrap().push(page);
        }
    }
}

#[test]
fn pages_go_back_after_the_last_look_and_never_while_somebody_lives_there() {
    loom::model(|| {
        let place = Place::new();
        place.residents.add(0, SLOT);
        place.residents.add(PAGE, SLOT);
        let others = [0, 1].map(|page| {
            let place = Arc::clone(&place);
            thread::spawn(move || place.use_up(page))
        });
        // Cut while the others may be gone already; it stays.
        place.residents.add(2 * PAGE, SLOT);
        place.fill();
        place.contents[2].with_mut(|_| ());
        for other in others {
            other.join().unwrap();
        }
        place.contents[2].with_mut(|_| ());
        assert!(!place.released.lock().unwrap().contains(&2));
    });
}

#[test]
fn two_slots_of_one_page_keep_it_until_both_are_gone() {
    loom::model(|| {
        let place = Place::new();
        for offset in [0, SLOT] {
            place.residents.add(offset, SLOT);
        }
        place.residents.add(3 * PAGE, SLOT);
        place.fill();
        let other = thread::spawn({
            let place = Arc::clone(&place);
            move || place.give_up(0, 64)
        });
        place.give_up(SLOT, SLOT);
        other.join().unwrap();
        let released = place.released.lock().unwrap();
        // Whoever was last gave it back, and the page of the third slot stays.
        assert!(released.contains(&0) && !released.contains(&3));
    });
}
