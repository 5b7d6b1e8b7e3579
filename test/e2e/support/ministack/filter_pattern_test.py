"""python3 -m unittest discover -s test/e2e/support/ministack -p '*_test.py'"""

import json
import unittest

from filter_pattern import matches

UNSCHEDULABLE = json.dumps({
    "verb": "patch", "user": {"username": "system:kube-scheduler"}, "objectRef": {"resource": "pods", "subresource": "status"},
    "requestObject": {"status": {"conditions": [{"type": "PodScheduled", "reason": "Unschedulable"}]}}, "responseStatus": {"code": 200},
})
PATTERN = ('{ ($.verb = "patch") && ($.objectRef.resource = "pods") && ($.objectRef.subresource = "status") && '
           '($.requestObject.status.conditions[0].reason = "Unschedulable") }')


class FilterPattern(unittest.TestCase):
    def test_json(self):
        for pattern, want in [
            (PATTERN, True),
            (PATTERN.replace("patch", "create"), False),
            ("{ $.verb = create || $.verb = patch }", True),
            ('{ $.user.username = "system:*" }', True),
            ('{ $.user.username != "system:*" }', False),
            ("{ $.requestObject.status.conditions[*].reason = Unschedulable }", True),
            ("{ $.requestObject.status.conditions[1].reason = Unschedulable }", False),
            ("{ $.responseStatus.code < 300 && $.responseStatus.code >= 200 }", True),
            ("{ $.responseStatus.code = 404 }", False),
            ("{ $.user.groups NOT EXISTS }", True),
            ("{ $.user NOT EXISTS }", False),
            ("{ $.absent != \"x\" }", False),
            ("{ $.user.username = %kube-.*er% }", True),
        ]:
            with self.subTest(pattern):
                self.assertEqual(matches(pattern, UNSCHEDULABLE), want)
        self.assertFalse(matches(PATTERN, "not json"))

    def test_terms(self):
        for pattern, want in [
            ("", True),
            ('"system:kube-scheduler" "Unschedulable" "PodScheduled"', True),
            ('"system:kube-scheduler" -Unschedulable', False),
            ("?nothing ?Unschedulable", True),
            ("?nothing ?neither", False),
            ("unschedulable", False),
        ]:
            with self.subTest(pattern):
                self.assertEqual(matches(pattern, UNSCHEDULABLE), want)

    def test_refuses_what_it_cannot_read(self):
        for pattern in ["{ $.a = }", "{ verb = 1 }", "{ $.a > \"x\" }", "{ $.a = 1 } x"]:
            with self.subTest(pattern), self.assertRaises(ValueError):
                matches(pattern, "{}")


if __name__ == "__main__":
    unittest.main()
