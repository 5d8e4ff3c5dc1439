"""Plan files that must not be carried out any more are taken back, and nothing else."""

from kafka_capacity.objects.store import LocalStore
from kafka_capacity.plan.pinned import PinnedPlan
from kafka_capacity.plan.release import withdraw_plan_files

PLAN = PinnedPlan(cluster="payments", ds="2026-11-15", inventory_sha256="0" * 64, plan_id="abc")


def test_the_files_of_an_earlier_release_go_and_the_report_stays(tmp_path):
    store = LocalStore(tmp_path)
    for name in ("index.html", "manifest.json", "reassignment/manifest.json", "reassignment/reassignment.json"):
        store.write_bytes(PLAN.report_prefix + name, b"x")

    assert withdraw_plan_files(store, PLAN) == 2
    left = [PLAN.report_prefix + name for name in ("index.html", "manifest.json")]
    assert list(store.list_objects(PLAN.report_prefix)) == left
    assert withdraw_plan_files(store, PLAN) == 0


def test_the_manifest_goes_first_so_that_no_reader_takes_half_a_release(tmp_path):
    gone = []

    class Watched(LocalStore):
        def delete(self, key):
            gone.append(key.rpartition("/")[2])
            super().delete(key)

    store = Watched(tmp_path)
    for name in ("a.json", "manifest.json", "z.json"):
        store.write_bytes(PLAN.report_prefix + "reassignment/" + name, b"x")
    withdraw_plan_files(store, PLAN)

    assert gone[0] == "manifest.json"
