//! Routes: how far each way to a provider is trusted (the article, 4.5, 4.11).

use super::facts::Trust;
use foldback_event::Label;
use foldback_event::kind::Route;

/// Gives a trust to the routes that it matches. The first rule that matches a route decides; a
/// route that no rule matches is untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteRule {
    /// The provider; none for any.
    pub provider: Option<Label>,
    /// The model; none for any.
    pub model: Option<Label>,
    /// The region; none for any. A route without a region matches no rule that names one.
    pub region: Option<Label>,
    /// The trust.
    pub trust: Trust,
    /// The line of the document on which it begins.
    pub line: usize,
}

impl RouteRule {
    pub(super) fn matches(&self, route: &Route) -> bool {
        fits(self.provider.as_ref(), Some(&route.provider))
            && fits(self.model.as_ref(), route.model.as_ref())
            && fits(self.region.as_ref(), route.region.as_ref())
    }

    /// Tells whether this matches every route that `other` matches.
    pub(super) fn covers(&self, other: &Self) -> bool {
        fits(self.provider.as_ref(), other.provider.as_ref())
            && fits(self.model.as_ref(), other.model.as_ref())
            && fits(self.region.as_ref(), other.region.as_ref())
    }

    pub(super) fn is_catch_all(&self) -> bool {
        self.provider.is_none() && self.model.is_none() && self.region.is_none()
    }
}

fn fits(wanted: Option<&Label>, given: Option<&Label>) -> bool {
    wanted.is_none() || wanted == given
}
